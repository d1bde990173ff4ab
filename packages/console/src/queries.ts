import {
  consoleAuditLog,
  consoleCredits,
  consoleJob,
  consoleJobList,
  consoleKeyList,
  consoleMemberList,
  consoleModel,
  consoleSession,
  consoleSettings,
  consoleSpeeds,
  consoleSubjectList,
  spending,
  type ConsoleJobQuery,
  type ConsoleSession,
  type SpendingQuery,
} from '@engraft/contract/console';
import { infiniteQueryOptions, queryOptions, type QueryClient } from '@tanstack/react-query';
import { ConsoleError, get } from './api.js';

export const liveMs = 3_000;
const watchedMs = 700;
const ended = new Set(['succeeded', 'ready', 'rejected', 'failed', 'reconciliation_required']);

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: () => get(consoleSession, '/session'),
  staleTime: 60_000,
});

/**
 * Forgets everything that the member before has seen, but for the session itself, which the page on the screen watches.
 */
export function forgetOthers(client: QueryClient): void {
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] });
}

export function beginWith(client: QueryClient, session: ConsoleSession): void {
  forgetOthers(client);
  client.setQueryData(sessionQuery.queryKey, session);
}

export const keysQuery = (project: string) =>
  queryOptions({ queryKey: ['keys', project], queryFn: () => get(consoleKeyList, `${of(project)}/keys`) });

export const settingsQuery = (project: string) =>
  queryOptions({ queryKey: ['settings', project], queryFn: () => get(consoleSettings, `${of(project)}/settings`) });

export const membersQuery = (project: string) =>
  queryOptions({ queryKey: ['members', project], queryFn: () => get(consoleMemberList, `${of(project)}/members`) });

/** Without a project: of the whole service, for operators. */
export const auditQuery = (project: string | null) =>
  infiniteQueryOptions({
    queryKey: ['audit', project],
    queryFn: ({ pageParam }) =>
      get(consoleAuditLog, `${project === null ? '' : of(project)}/audit${parameters({ cursor: pageParam })}`),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });

export const subjectsQuery = (project: string, tenant: string) =>
  queryOptions({
    queryKey: ['subjects', project, tenant],
    queryFn: () => get(consoleSubjectList, `${of(project)}/subjects${parameters({ tenant_id: tenant })}`),
  });

export const jobsQuery = (project: string, filters: Omit<ConsoleJobQuery, 'cursor'>) =>
  infiniteQueryOptions({
    queryKey: ['jobs', project, filters],
    queryFn: ({ pageParam }) =>
      get(consoleJobList, `${of(project)}/jobs${parameters({ ...filters, cursor: pageParam })}`),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
    // Only while the first page alone is shown: later ones would all be asked for again.
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 1) > 1 ? false : liveMs),
  });

/** Asks again until the job has ended. */
export const jobQuery = (project: string, job: string) =>
  queryOptions({
    queryKey: ['job', project, job],
    queryFn: () => get(consoleJob, `${of(project)}/jobs/${encodeURIComponent(job)}`),
    refetchInterval: ({ state: { data, error } }) => {
      const isGone = error instanceof ConsoleError && error.status === 404;
      return isGone || (data !== undefined && ended.has(data.job.status)) ? false : watchedMs;
    },
  });

export const creditsQuery = (project: string) =>
  infiniteQueryOptions({
    queryKey: ['credits', project],
    queryFn: ({ pageParam }) => get(consoleCredits, `${of(project)}/credits${parameters({ cursor: pageParam })}`),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });

export const spendingQuery = (project: string, query: SpendingQuery) =>
  queryOptions({
    queryKey: ['spending', project, query],
    queryFn: () => get(spending, `${of(project)}/spending${parameters(query)}`),
  });

export const modelQuery = queryOptions({ queryKey: ['model'], queryFn: () => get(consoleModel, '/model') });

/** Measured once, at the first question. */
export const speedsQuery = queryOptions({
  queryKey: ['speeds'],
  queryFn: () => get(consoleSpeeds, '/model/speeds'),
  staleTime: Infinity,
});

/** The part of a query that asks for the rows that follow. */
export function moreOf(query: {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly isFetchNextPageError: boolean;
  readonly fetchNextPage: () => Promise<unknown>;
}) {
  return {
    // After an error nothing is asked for by itself.
    hasMore: query.hasNextPage && !query.isFetchNextPageError,
    isLoadingMore: query.isFetchingNextPage,
    onMore: () => void query.fetchNextPage(),
  };
}

export function of(project: string): string {
  return `/projects/${encodeURIComponent(project)}`;
}

export function hasEnded(status: string): boolean {
  return ended.has(status);
}

/** Empty ones are left out. */
function parameters(values: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(values).filter((entry): entry is [string, string] => (entry[1] ?? '') !== '');
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}
