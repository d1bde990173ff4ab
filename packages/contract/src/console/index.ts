export * from './accounts.js';
export * from './projects.js';
