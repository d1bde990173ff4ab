/**
 * All that PostgreSQL's variables (`PGSSLMODE`, `PGOPTIONS`, …) could say of a connection, which the driver reads
 * wherever its caller says nothing: they are meant for other servers than ours.
 */
const said = {
  sslmode: 'disable',
  sslnegotiation: 'postgres',
  client_encoding: 'UTF8',
  replication: 'false',
  // The server's own settings, since the driver takes no options for none said.
  options: '-c timezone=UTC',
} as const;

/** The URL of an embedded server for connections that take nothing from the environment. */
export function ownConnection(url: string, application_name = 'engraft'): string {
  return `${url}?${new URLSearchParams({ ...said, application_name }).toString()}`;
}
