import type { ConsoleSession } from '@engraft/contract/console';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useNavigate } from '@tanstack/react-router';
import { remove } from '../api.js';
import { ErrorNote } from '../parts/parts.js';
import { useProject } from '../project.js';
import { forgetOthers, sessionQuery } from '../queries.js';
import { SignedIn } from './SignedIn.js';

const pages = [
  ['/p/$project', 'Playground'],
  ['/p/$project/subjects', 'Subjects'],
  ['/p/$project/jobs', 'Jobs'],
  ['/p/$project/keys', 'API keys'],
  ['/p/$project/credits', 'Credits'],
  ['/p/$project/members', 'Members'],
  ['/p/$project/audit', 'Audit log'],
  ['/p/$project/model', 'Model'],
  ['/p/$project/settings', 'Settings'],
] as const;

/** The frame of every page of a project. */
export function Shell() {
  return <SignedIn>{(session) => <Frame session={session} />}</SignedIn>;
}

function Frame({ session }: { readonly session: ConsoleSession }) {
  const project = useProject();
  const navigate = useNavigate();
  const isKnown = session.projects.some(({ id }) => id === project);
  return (
    <>
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <header>
        <strong className="brand">Engraft</strong>
        <label>
          <span className="hidden">Project</span>
          <select
            value={project}
            onChange={(event) => void navigate({ to: '/p/$project', params: { project: event.target.value } })}
          >
            {!isKnown && <option value={project}>(no such project)</option>}
            {session.projects.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <nav aria-label="Pages">
          {pages.map(([to, name]) => (
            <Link
              key={to}
              to={to}
              params={{ project }}
              activeOptions={{ exact: to === '/p/$project' }}
              activeProps={{ 'aria-current': 'page' }}
            >
              {name}
            </Link>
          ))}
        </nav>
        <Account email={session.email} />
      </header>
      <main id="content">{isKnown ? <Outlet /> : <h1>You have no project under this address</h1>}</main>
    </>
  );
}

function Account({ email }: { readonly email: string }) {
  const client = useQueryClient();
  const signOut = useMutation({
    mutationFn: (path: '/session' | '/sessions') => remove(path),
    onSuccess: async () => {
      forgetOthers(client);
      await client.resetQueries({ queryKey: sessionQuery.queryKey });
    },
  });
  return (
    <details className="account">
      <summary>{email}</summary>
      <div>
        <button onClick={() => signOut.mutate('/session')}>Sign out</button>
        <button onClick={() => signOut.mutate('/sessions')}>Sign out everywhere</button>
        <ErrorNote error={signOut.error} />
      </div>
    </details>
  );
}
