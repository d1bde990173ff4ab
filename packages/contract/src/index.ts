export * from './conversation.js';
export * from './errors.js';
export * from './identifiers.js';
export * from './limits.js';
export * from './prices.js';
export * from './requests.js';
export * from './resources.js';
export * from './scopes.js';
