import { consoleSession, type ConsoleSession } from '@engraft/contract/console';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { ConsoleError, post } from '../api.js';
import { ErrorNote, Field, Loading } from '../parts/parts.js';
import { beginWith, sessionQuery } from '../queries.js';

/** Shows the form to sign in where the page would be, so that nothing has to lead back to it. */
export function SignedIn(props: { readonly children: (session: ConsoleSession) => ReactNode }) {
  const { data, error, isPending } = useQuery(sessionQuery);
  if (isPending) return <Loading what="the console" />;
  if (error instanceof ConsoleError && error.status === 401) return <SignIn />;
  if (data === undefined) return <ErrorNote error={error} />;
  return props.children(data);
}

function SignIn() {
  const client = useQueryClient();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const signIn = useMutation({
    mutationFn: () => post(consoleSession, '/session', { email, password }),
    onSuccess: (session) => {
      beginWith(client, session);
    },
  });
  return (
    <main className="narrow">
      <h1>Sign in to Engraft</h1>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          signIn.mutate();
        }}
      >
        <Field label="E-mail">
          {(ids) => (
            <input
              {...ids}
              type="email"
              autoComplete="username"
              autoFocus
              required
              value={email}
              onChange={(event) => setEmail(event.target.value)}
            />
          )}
        </Field>
        <Field label="Password">
          {(ids) => (
            <input
              {...ids}
              type="password"
              autoComplete="current-password"
              required
              value={password}
              onChange={(event) => setPassword(event.target.value)}
            />
          )}
        </Field>
        <ErrorNote error={signIn.error} />
        <button className="primary" disabled={signIn.isPending}>
          {signIn.isPending ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
      <p className="hint">
        No account, or the password is lost? On the machine of the service, <code>npx engraft console link</code> makes
        a one-time link.
      </p>
    </main>
  );
}
