/** For tests that look into a data folder. The command `engraft` starts the service itself. */
export { attachEmbeddedPostgres } from './db/embeddedPostgres/index.js';
