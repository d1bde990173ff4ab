import { createdKey, type KeyLifetime, type NewKeyRequest } from '@engraft/contract/console';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { post } from '../api.js';
import { CopyButton, ErrorNote, Field } from '../parts/parts.js';
import { useProject } from '../project.js';
import { keysQuery, of } from '../queries.js';

type Scope = NewKeyRequest['scopes'][number];

const scopes: readonly (readonly [Scope, string])[] = [
  ['inference', 'ask, and read its own jobs'],
  ['internalize', 'learn, and read its own jobs'],
  ['read', 'read all jobs and subjects'],
  ['adapters', 'activate versions'],
];

const lifetimes: readonly (readonly [KeyLifetime, string])[] = [
  ['30d', '30 days'],
  ['90d', '90 days'],
  ['1y', 'One year'],
  ['never', 'Never'],
];

export function NewKey({ onDone }: { readonly onDone: () => void }) {
  const project = useProject();
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<readonly Scope[]>(['inference']);
  const [tenant, setTenant] = useState('');
  const [expires, setExpires] = useState<KeyLifetime>('90d');
  const create = useMutation({
    mutationFn: () => {
      const wanted: NewKeyRequest = {
        name,
        scopes: [...chosen],
        tenant_id: tenant.trim() === '' ? null : tenant.trim(),
        expires,
      };
      return post(createdKey, `${of(project)}/keys`, wanted);
    },
    onSuccess: () => client.invalidateQueries({ queryKey: keysQuery(project).queryKey }),
  });
  if (create.data !== undefined) return <Secret secret={create.data.secret} onDone={onDone} />;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate();
      }}
    >
      <Field label="Name" hint="What the key is for.">
        {(ids) => (
          <input {...ids} required maxLength={100} value={name} onChange={(event) => setName(event.target.value)} />
        )}
      </Field>
      <Scopes chosen={chosen} onChange={setChosen} />
      <Field label="Tenant (optional)" hint="The key is then for this one customer of yours.">
        {(ids) => <input {...ids} value={tenant} maxLength={128} onChange={(event) => setTenant(event.target.value)} />}
      </Field>
      <Field label="Expires after">
        {(ids) => (
          <select
            {...ids}
            value={expires}
            onChange={(event) => setExpires(lifetimes.find(([each]) => each === event.target.value)?.[0] ?? '90d')}
          >
            {lifetimes.map(([lifetime, meaning]) => (
              <option key={lifetime} value={lifetime}>
                {meaning}
              </option>
            ))}
          </select>
        )}
      </Field>
      {chosen.length === 0 && <p className="hint">Choose at least one scope.</p>}
      <ErrorNote error={create.error} />
      <div className="buttons">
        <button type="button" onClick={onDone}>
          Cancel
        </button>
        <button className="primary" disabled={create.isPending || chosen.length === 0}>
          Create
        </button>
      </div>
    </form>
  );
}

interface ScopesProps {
  readonly chosen: readonly Scope[];
  readonly onChange: (chosen: readonly Scope[]) => void;
}

function Scopes({ chosen, onChange }: ScopesProps) {
  const toggle = (scope: Scope): void =>
    onChange(chosen.includes(scope) ? chosen.filter((each) => each !== scope) : [...chosen, scope]);
  return (
    <fieldset>
      <legend>Scopes</legend>
      {scopes.map(([scope, meaning]) => (
        <label key={scope} className="check">
          <input type="checkbox" checked={chosen.includes(scope)} onChange={() => toggle(scope)} />
          <span>
            <strong>{scope}</strong>: {meaning}
          </span>
        </label>
      ))}
      <div className="buttons">
        <button type="button" onClick={() => onChange(['inference'])}>
          Inference only
        </button>
        <button type="button" onClick={() => onChange(['read', 'adapters'])}>
          Management only
        </button>
      </div>
    </fieldset>
  );
}

function Secret({ secret, onDone }: { readonly secret: string; readonly onDone: () => void }) {
  return (
    <>
      <p className="note warn">Keep the secret now: it is shown this once, and nobody can find it again.</p>
      <p>
        <code className="secret">{secret}</code>
      </p>
      <div className="buttons">
        <CopyButton text={secret} />
        <button className="primary" onClick={onDone}>
          I have kept it
        </button>
      </div>
    </>
  );
}
