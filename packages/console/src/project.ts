import { memberRoles, type MemberRole } from '@engraft/contract/console';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { sessionQuery } from './queries.js';

/** The project of the address. */
export function useProject(): string {
  const { project } = useParams({ strict: false });
  return project ?? '';
}

/** Whether to offer what changes something. The service decides; this only spares people a refusal. */
export function useMayWrite(): boolean {
  const { data } = useQuery(sessionQuery);
  const project = useProject();
  const role: MemberRole = data?.projects.find(({ id }) => id === project)?.role ?? 'viewer';
  return memberRoles.indexOf(role) >= memberRoles.indexOf('developer');
}
