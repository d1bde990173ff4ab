export * from './accounts.js';
export * from './credits.js';
export * from './jobs.js';
export * from './members.js';
export * from './model.js';
export * from './projects.js';
export * from './settings.js';
