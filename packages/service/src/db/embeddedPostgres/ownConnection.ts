/**
 * Settings for everything that PostgreSQL's variables (`PGSSLMODE`, `PGOPTIONS`, …) could say about a connection. The
 * driver reads them if its caller says nothing, but they are meant for other servers than ours.
 */
const said = {
  sslmode: 'disable',
  sslnegotiation: 'postgres',
  client_encoding: 'UTF8',
  replication: 'false',
  // The server's own settings, since the driver does not accept empty options.
  options: '-c timezone=UTC',
} as const;

/** The URL of an embedded server for connections that take nothing from the environment. */
export function ownConnection(url: string, applicationName = 'engraft'): string {
  return `${url}?${new URLSearchParams({ ...said, application_name: applicationName }).toString()}`;
}
