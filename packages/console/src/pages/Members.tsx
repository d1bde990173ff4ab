import {
  madeInvitation,
  memberRoles,
  type ConsoleInvitation,
  type ConsoleMember,
  type MemberRole,
} from '@engraft/contract/console';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { post, remove, send } from '../api.js';
import { formatTime } from '../format.js';
import { CopyButton, Dialog, ErrorNote, Field, Loading } from '../parts/parts.js';
import { useMay, useProject } from '../project.js';
import { membersQuery, of, sessionQuery } from '../queries.js';

const meanings: Readonly<Record<MemberRole, string>> = {
  viewer: 'sees everything, changes nothing',
  developer: 'learns, asks, activates versions and manages keys',
  owner: 'does all of this, sets limits and manages members',
};

export function Members() {
  const project = useProject();
  const mayManage = useMay('owner');
  const { data, error, isPending } = useQuery(membersQuery(project));
  const [inviting, setInviting] = useState(false);
  const [removing, setRemoving] = useState<ConsoleMember | null>(null);
  return (
    <>
      <div className="title">
        <h1>Members</h1>
        {mayManage && (
          <button className="primary" onClick={() => setInviting(true)}>
            Invite somebody
          </button>
        )}
      </div>
      <ul className="hint">
        {memberRoles.map((role) => (
          <li key={role}>
            <strong>{role}</strong>: {meanings[role]}
          </li>
        ))}
      </ul>
      <ErrorNote error={error} />
      {isPending && <Loading what="the members" />}
      {data !== undefined && <MemberTable members={data.members} mayManage={mayManage} onRemove={setRemoving} />}
      {data !== undefined && data.invitations.length > 0 && (
        <Invitations invitations={data.invitations} mayManage={mayManage} />
      )}
      <Dialog title="Invite somebody" open={inviting} onClose={() => setInviting(false)}>
        <Invite onDone={() => setInviting(false)} />
      </Dialog>
      <Dialog title={`Remove ${removing?.email ?? ''}?`} open={removing !== null} onClose={() => setRemoving(null)}>
        {removing !== null && <Remove member={removing} onDone={() => setRemoving(null)} />}
      </Dialog>
    </>
  );
}

function MemberTable(props: {
  readonly members: readonly ConsoleMember[];
  readonly mayManage: boolean;
  readonly onRemove: (member: ConsoleMember) => void;
}) {
  const { data: session } = useQuery(sessionQuery);
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Members">
      <table>
        <thead>
          <tr>
            <th>E-mail</th>
            <th>Role</th>
            <th>
              <span className="hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {props.members.map((member) => {
            const isSelf = member.email === session?.email;
            const mayChange = props.mayManage && !isSelf && (!member.is_everywhere || session?.is_operator === true);
            return (
              <tr key={member.id}>
                <td>
                  {member.email}
                  {isSelf && <span className="hint"> (you)</span>}
                </td>
                <td>
                  {mayChange ? <RoleChoice member={member} /> : member.role}
                  {member.is_everywhere && <span className="hint"> in every project</span>}
                </td>
                <td>
                  {mayChange && (
                    <button onClick={() => props.onRemove(member)} aria-label={`Remove ${member.email}`}>
                      Remove
                    </button>
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function RoleChoice({ member }: { readonly member: ConsoleMember }) {
  const project = useProject();
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: (role: string) =>
      send('POST', `${of(project)}/members/${encodeURIComponent(member.id)}/role`, { role }),
    onSettled: () => client.invalidateQueries({ queryKey: membersQuery(project).queryKey }),
  });
  return (
    <>
      <select
        aria-label={`Role of ${member.email}`}
        value={member.role}
        disabled={change.isPending}
        onChange={(event) => change.mutate(event.target.value)}
      >
        {memberRoles.map((role) => (
          <option key={role}>{role}</option>
        ))}
      </select>
      <ErrorNote error={change.error} />
    </>
  );
}

function Remove({ member, onDone }: { readonly member: ConsoleMember; readonly onDone: () => void }) {
  const project = useProject();
  const client = useQueryClient();
  const removal = useMutation({
    mutationFn: () => remove(`${of(project)}/members/${encodeURIComponent(member.id)}`),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: membersQuery(project).queryKey });
      onDone();
    },
  });
  return (
    <>
      <p>
        They can do nothing in {member.is_everywhere ? 'any project' : 'this project'} from now on. Jobs that they sent
        go on, and API keys that they made still work: revoke those under API keys.
      </p>
      <ErrorNote error={removal.error} />
      <div className="buttons">
        <button onClick={onDone}>Keep them</button>
        <button className="danger" disabled={removal.isPending} onClick={() => removal.mutate()}>
          Remove
        </button>
      </div>
    </>
  );
}

function Invite({ onDone }: { readonly onDone: () => void }) {
  const project = useProject();
  const client = useQueryClient();
  const [role, setRole] = useState<MemberRole>('developer');
  const invite = useMutation({
    mutationFn: () => post(madeInvitation, `${of(project)}/invitations`, { role }),
    onSuccess: () => client.invalidateQueries({ queryKey: membersQuery(project).queryKey }),
  });
  if (invite.data !== undefined) return <InvitationLink {...invite.data} role={role} onDone={onDone} />;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        invite.mutate();
      }}
    >
      <Field label="Role" hint={`${role}: ${meanings[role]}`}>
        {(ids) => (
          <select
            {...ids}
            value={role}
            onChange={(event) => setRole(memberRoles.find((each) => each === event.target.value) ?? 'viewer')}
          >
            {memberRoles.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        )}
      </Field>
      <ErrorNote error={invite.error} />
      <div className="buttons">
        <button type="button" onClick={onDone}>
          Cancel
        </button>
        <button className="primary" disabled={invite.isPending}>
          Make a link
        </button>
      </div>
    </form>
  );
}

function InvitationLink(props: {
  readonly token: string;
  readonly role: MemberRole;
  readonly expires_at: string;
  readonly onDone: () => void;
}) {
  const url = `${window.location.origin}/console/setup#${props.token}`;
  return (
    <>
      <p>
        Send this link to one person. Whoever opens it becomes a {props.role} of this project. It works once, until{' '}
        {formatTime(props.expires_at)}, and is shown this once.
      </p>
      <p>
        <code className="secret">{url}</code>
      </p>
      <div className="buttons">
        <CopyButton text={url} />
        <button className="primary" onClick={props.onDone}>
          Done
        </button>
      </div>
    </>
  );
}

function Invitations(props: { readonly invitations: readonly ConsoleInvitation[]; readonly mayManage: boolean }) {
  const project = useProject();
  const client = useQueryClient();
  const withdraw = useMutation({
    mutationFn: (id: string) => remove(`${of(project)}/invitations/${encodeURIComponent(id)}`),
    onSettled: () => client.invalidateQueries({ queryKey: membersQuery(project).queryKey }),
  });
  return (
    <section aria-labelledby="invitations">
      <h2 id="invitations">Invitations that nobody has used yet</h2>
      <ErrorNote error={withdraw.error} />
      <ul>
        {props.invitations.map(({ id, role, created_at, expires_at }) => (
          <li key={id}>
            {role}, made {formatTime(created_at)}, works until {formatTime(expires_at)}{' '}
            {props.mayManage && (
              <button disabled={withdraw.isPending} onClick={() => withdraw.mutate(id)}>
                Withdraw
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
