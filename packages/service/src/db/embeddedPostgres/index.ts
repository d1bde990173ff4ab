export { attachEmbeddedPostgres, type AttachOptions, type EmbeddedPostgres } from './attach.js';
