export { attachEmbeddedPostgres, type AttachOptions, type EmbeddedPostgres } from './attach.js';
export { isAlive } from './cluster.js';
