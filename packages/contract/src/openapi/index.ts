export { conversationRules } from './descriptions.js';
export { openApiDocument } from './document.js';
export { errorEnvelopeSchema } from './errorSchema.js';
export type * from './types.js';
