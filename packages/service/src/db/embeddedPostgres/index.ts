export { attachEmbeddedPostgres, type AttachOptions, type EmbeddedPostgres } from './attach.js';
export { ownConnection } from './ownConnection.js';
