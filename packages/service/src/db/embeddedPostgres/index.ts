export { attachEmbeddedPostgres, type AttachOptions, type EmbeddedPostgres } from './attach.js';
export { hasCluster } from './cluster.js';
export { ownConnection } from './ownConnection.js';
