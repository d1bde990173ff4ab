/** For tests that look into a data folder; the service itself is started with the command `engraft`. */
export { attachEmbeddedPostgres } from './db/embeddedPostgres/index.js';
