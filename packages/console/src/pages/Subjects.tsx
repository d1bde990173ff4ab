import type { Subject, Version } from '@engraft/contract';
import { activationResult } from '@engraft/contract/console';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ConsoleError, post } from '../api.js';
import { formatAge, formatTime } from '../format.js';
import { Asking } from '../parts/Asking.js';
import { ErrorNote, Field, Loading, Status } from '../parts/parts.js';
import { useMayWrite, useProject } from '../project.js';
import { of, subjectsQuery } from '../queries.js';

const identifier = /^[a-zA-Z0-9][a-zA-Z0-9_.:-]{0,127}$/;

/** Each subject with its versions. */
export function Subjects() {
  const project = useProject();
  const [tenant, setTenant] = useState('');
  // Anything else would show, and change, the project's own subjects.
  const isName = tenant === '' || identifier.test(tenant);
  const { data, error, isLoading } = useQuery({ ...subjectsQuery(project, tenant), enabled: isName });
  return (
    <>
      <h1>Subjects</h1>
      <div className="filters">
        <Field label="Tenant" hint="Empty: the project's own subjects.">
          {(ids) => <input {...ids} value={tenant} onChange={(event) => setTenant(event.target.value)} />}
        </Field>
      </div>
      <ErrorNote error={error} />
      {!isName && <p className="note warn">No tenant has such a name.</p>}
      {isLoading && <Loading what="the subjects" />}
      {data?.data.length === 0 && (
        <p>
          There is no subject here.{' '}
          <Link to="/p/$project" params={{ project }}>
            Learn a passage in the playground
          </Link>{' '}
          and it makes one.
        </p>
      )}
      {data?.data.map((subject) => (
        <SubjectCard key={subject.id} subject={subject} tenant={tenant} />
      ))}
    </>
  );
}

function SubjectCard({ subject, tenant }: { readonly subject: Subject; readonly tenant: string }) {
  const project = useProject();
  const client = useQueryClient();
  const activate = useMutation({
    mutationFn: (versionId: string) =>
      post(activationResult, `${of(project)}/activations`, {
        version_id: versionId,
        expected_version_id: subject.active_version,
        ...(tenant === '' ? {} : { tenant_id: tenant }),
      }),
    // After a conflict as well: what is shown is out of date then.
    onSettled: () => client.invalidateQueries({ queryKey: subjectsQuery(project, tenant).queryKey }),
  });
  const mayWrite = useMayWrite();
  const activeAt = subject.versions.findIndex(({ id }) => id === subject.active_version);
  return (
    <article>
      <h2>{subject.id}</h2>
      <p className="hint">
        {subject.active_version === null ? 'Answers with base: no version is active.' : `Revision ${subject.revision}`}
      </p>
      <ActivationError error={activate.error} />
      <ol className="timeline" aria-label={`Versions of ${subject.id}, newest first`}>
        {subject.versions.map((version, index) => (
          <VersionRow
            key={version.id}
            version={version}
            isActive={version.id === subject.active_version}
            verb={activeAt !== -1 && index > activeAt ? 'Roll back to this' : 'Activate'}
            busy={activate.isPending}
            onActivate={() => activate.mutate(version.id)}
          />
        ))}
      </ol>
      {mayWrite && <Compare subject={subject} tenant={tenant} />}
    </article>
  );
}

function VersionRow(props: {
  readonly version: Version;
  readonly isActive: boolean;
  readonly verb: string;
  readonly busy: boolean;
  readonly onActivate: () => void;
}) {
  const { version, isActive } = props;
  const project = useProject();
  const mayWrite = useMayWrite();
  const isExpired = Date.parse(version.expires_at) <= Date.now();
  return (
    <li className={isActive ? 'now' : ''}>
      <div className="title">
        <span>
          <code>{version.id.slice(0, 14)}…</code> {isActive && <Status name="active" />}{' '}
          {isExpired && <Status name="expired" />}
        </span>
        {mayWrite && !isActive && !isExpired && (
          <button disabled={props.busy} onClick={props.onActivate} aria-label={`${props.verb} ${version.id}`}>
            {props.verb}
          </button>
        )}
      </div>
      <p className="hint">
        {version.validation.passed} of {version.validation.total} held-out questions ·{' '}
        <span title={formatTime(version.created_at)}>learned {formatAge(version.created_at)}</span> ·{' '}
        {isExpired ? 'expired' : 'kept until'} {formatTime(version.expires_at)} ·{' '}
        <Link to="/p/$project/jobs/$job" params={{ project, job: version.source_job }}>
          its job
        </Link>
        {version.base_model_changed === true && ' · of another base model than the service has now'}
      </p>
    </li>
  );
}

/** Two versions, or one and base, asked the same question. */
function Compare({ subject, tenant }: { readonly subject: Subject; readonly tenant: string }) {
  const choices = [...subject.versions.map(({ id }) => id), 'base'];
  const [chosen, choose] = useState<readonly [string, string]>([choices[0] ?? 'base', choices[1] ?? 'base']);
  const nameOf = (version: string): string => (version === 'base' ? 'base' : `${version.slice(0, 14)}…`);
  return (
    <details>
      <summary>Compare two versions</summary>
      <div className="filters">
        {chosen.map((version, index) => (
          <Field key={index} label={index === 0 ? 'First version' : 'Second version'}>
            {(ids) => (
              <select
                {...ids}
                value={version}
                onChange={({ target: { value } }) => choose(index === 0 ? [value, chosen[1]] : [chosen[0], value])}
              >
                {choices.map((each) => (
                  <option key={each} value={each}>
                    {nameOf(each)}
                  </option>
                ))}
              </select>
            )}
          </Field>
        ))}
      </div>
      <Asking
        subject={subject.id}
        tenant={tenant}
        sides={chosen.map((version) => ({ title: nameOf(version), adapter_version: version }))}
      />
    </details>
  );
}

function ActivationError({ error }: { readonly error: unknown }) {
  if (error instanceof ConsoleError && error.code === 'activation_conflict')
    return (
      <p className="note warn" role="alert">
        Somebody activated another version in the meantime, so nothing was changed. The list is up to date now: look
        again, then choose.
      </p>
    );
  return <ErrorNote error={error} />;
}
