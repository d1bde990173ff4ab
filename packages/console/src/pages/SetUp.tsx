import { consoleSession, linkDetails, type LinkDetails } from '@engraft/contract/console';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { post } from '../api.js';
import { formatTime } from '../format.js';
import { ErrorNote, Field, Loading } from '../parts/parts.js';
import { beginWith, sessionQuery } from '../queries.js';

/** The token stands behind the `#`, which browsers send to nobody. */
function tokenOfAddress(): string {
  return window.location.hash.replace(/^#/, '');
}

export function SetUp() {
  const [token] = useState(tokenOfAddress);
  const link = useQuery({
    queryKey: ['link', token],
    queryFn: () => post(linkDetails, '/links/read', { token }),
    retry: false,
    staleTime: Infinity,
  });
  if (link.isPending) return <Loading what="the link" />;
  if (link.data === undefined)
    return (
      <main className="narrow">
        <h1>This link does not work</h1>
        <ErrorNote error={link.error} />
      </main>
    );
  return <Redeem token={token} link={link.data} />;
}

/** Somebody who is signed in may join with the account that they have. */
function Redeem({ token, link }: { readonly token: string; readonly link: LinkDetails }) {
  const session = useQuery(sessionQuery);
  const [asAnother, setAsAnother] = useState(false);
  if (session.isPending) return <Loading what="the link" />;
  const mayJoin = link.role !== null && !link.resets_password;
  if (session.data === undefined || asAnother || !mayJoin) return <SetUpForm token={token} link={link} />;
  return <Join token={token} link={link} email={session.data.email} onOther={() => setAsAnother(true)} />;
}

function Join(props: {
  readonly token: string;
  readonly link: LinkDetails;
  readonly email: string;
  readonly onOther: () => void;
}) {
  const { token, link, email } = props;
  const client = useQueryClient();
  const navigate = useNavigate();
  const join = useMutation({
    mutationFn: () => post(consoleSession, '/links/join', { token }),
    onSuccess: async (session) => {
      beginWith(client, session);
      await navigate({ to: '/', replace: true });
    },
  });
  return (
    <main className="narrow">
      <h1>Join {link.project ?? 'every project'}</h1>
      <p>
        You are invited as a {link.role}. You are signed in as {email}.
      </p>
      <ErrorNote error={join.error} />
      <div className="buttons">
        <button className="primary" disabled={join.isPending} onClick={() => join.mutate()}>
          Join as {email}
        </button>
        <button onClick={props.onOther}>Set up another account</button>
      </div>
    </main>
  );
}

function SetUpForm({ token, link }: { readonly token: string; readonly link: LinkDetails }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [email, setEmail] = useState(link.email ?? '');
  const [password, setPassword] = useState('');
  const setUp = useMutation({
    mutationFn: () => post(consoleSession, '/links/redeem', { token, email, password }),
    onSuccess: async (session) => {
      beginWith(client, session);
      await navigate({ to: '/', replace: true });
    },
  });
  return (
    <main className="narrow">
      <h1>{link.resets_password ? 'Choose a new password' : 'Set up your account'}</h1>
      {link.project !== null && (
        <p>
          You are invited to {link.project} as a {link.role}. If you have an account here, sign in first, then open the
          link again.
        </p>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setUp.mutate();
        }}
      >
        <Field label="E-mail" hint="With this you sign in.">
          {(ids) => (
            <input
              {...ids}
              type="email"
              autoComplete="username"
              required
              readOnly={link.email !== null}
              value={email}
              onChange={(event) => setEmail(event.target.value)}
            />
          )}
        </Field>
        <Field label="Password" hint="At least 12 characters. A few random words are good.">
          {(ids) => (
            <input
              {...ids}
              type="password"
              autoComplete="new-password"
              required
              minLength={12}
              maxLength={256}
              value={password}
              onChange={(event) => setPassword(event.target.value)}
            />
          )}
        </Field>
        <ErrorNote error={setUp.error} />
        <button className="primary" disabled={setUp.isPending}>
          {setUp.isPending ? 'Saving…' : 'Save and sign in'}
        </button>
      </form>
      <p className="hint">The link works once, until {formatTime(link.expires_at)}.</p>
    </main>
  );
}
