import { consoleKey, type ConsoleKey } from '@engraft/contract/console';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { post } from '../api.js';
import { formatAge, formatTime } from '../format.js';
import { Dialog, ErrorNote, Loading, Status } from '../parts/parts.js';
import { useMayWrite, useProject } from '../project.js';
import { keysQuery, of } from '../queries.js';
import { NewKey } from './NewKey.js';

export function Keys() {
  const project = useProject();
  const mayWrite = useMayWrite();
  const keys = useQuery(keysQuery(project));
  const [making, setMaking] = useState(false);
  const [revoking, setRevoking] = useState<ConsoleKey | null>(null);
  return (
    <>
      <div className="title">
        <h1>API keys</h1>
        {mayWrite && (
          <button className="primary" onClick={() => setMaking(true)}>
            Create a key
          </button>
        )}
      </div>
      <p className="hint">
        A key is for a server: it opens <code>/v1</code> of this service, and no page of the console.
      </p>
      <ErrorNote error={keys.error} />
      {keys.isPending && <Loading what="the keys" />}
      {keys.data?.data.length === 0 && <p>There is no key yet. Create one to call the API from your own program.</p>}
      {keys.data !== undefined && keys.data.data.length > 0 && (
        <div className="scroll" tabIndex={0} role="region" aria-label="Keys">
          <table>
            <thead>
              <tr>
                <th>Name</th>
                <th>Scopes</th>
                <th>Tenant</th>
                <th>Expires</th>
                <th>Last used</th>
                <th>
                  <span className="hidden">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {[...keys.data.data].reverse().map((key) => (
                <tr key={key.id} className={key.revoked_at === null ? '' : 'gone'}>
                  <td>{key.name}</td>
                  <td>{key.scopes.join(', ')}</td>
                  <td>{key.tenant_id ?? 'any'}</td>
                  <td>{describeEnd(key)}</td>
                  <td>{key.last_used_at === null ? 'never' : formatAge(key.last_used_at)}</td>
                  <td>
                    {mayWrite && key.revoked_at === null && (
                      <button onClick={() => setRevoking(key)} aria-label={`Revoke ${key.name}`}>
                        Revoke
                      </button>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Dialog title="Create an API key" open={making} onClose={() => setMaking(false)}>
        <NewKey onDone={() => setMaking(false)} />
      </Dialog>
      <Dialog title={`Revoke ${revoking?.name ?? ''}?`} open={revoking !== null} onClose={() => setRevoking(null)}>
        {revoking !== null && <Revoke ofKey={revoking} onDone={() => setRevoking(null)} />}
      </Dialog>
    </>
  );
}

function describeEnd({ revoked_at, expires_at }: ConsoleKey) {
  if (revoked_at !== null) return `revoked ${formatTime(revoked_at)}`;
  if (expires_at === null) return 'never';
  return Date.parse(expires_at) <= Date.now() ? <Status name="expired" /> : formatTime(expires_at);
}

function Revoke({ ofKey, onDone }: { readonly ofKey: ConsoleKey; readonly onDone: () => void }) {
  const project = useProject();
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => post(consoleKey, `${of(project)}/keys/${encodeURIComponent(ofKey.id)}/revoke`),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: keysQuery(project).queryKey });
      onDone();
    },
  });
  return (
    <>
      <p>Requests with this key are refused from now on. This cannot be undone. Jobs that it has sent go on.</p>
      <ErrorNote error={revoke.error} />
      <div className="buttons">
        <button onClick={onDone}>Keep it</button>
        <button className="danger" disabled={revoke.isPending} onClick={() => revoke.mutate()}>
          Revoke
        </button>
      </div>
    </>
  );
}
