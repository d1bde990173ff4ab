import { memberRoles, type MemberRole } from '@engraft/contract/console';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { sessionQuery } from './queries.js';

/** The project of the address. */
export function useProject(): string {
  const { project } = useParams({ strict: false });
  return project ?? '';
}

/**
 * Whether the member has at least this role, and so is offered what takes it. The service decides; this only spares
 * people a refusal.
 */
export function useMay(least: MemberRole): boolean {
  const { data } = useQuery(sessionQuery);
  const project = useProject();
  const role: MemberRole = data?.projects.find(({ id }) => id === project)?.role ?? 'viewer';
  return memberRoles.indexOf(role) >= memberRoles.indexOf(least);
}

export function useMayWrite(): boolean {
  return useMay('developer');
}

/** Whether the member may buy credit for the project. */
export function useSellsCredit(): boolean {
  const isOwner = useMay('owner');
  const { data } = useQuery(sessionQuery);
  return isOwner && data?.sells_credit === true;
}

/** Whether the member owns every project. */
export function useOperates(): boolean {
  return useQuery(sessionQuery).data?.is_operator ?? false;
}
