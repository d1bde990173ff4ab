import { chatRules } from './rules/chat.js';
import { decisionRules } from './rules/decisions.js';
import { endpointRules } from './rules/endpoints.js';
import { errorRules } from './rules/errors.js';
import { resourceRules } from './rules/resources.js';
import type { Rule } from './rules/rule.js';
import { serviceRules } from './rules/service.js';

/**
 * Every rule of the API's contract in the contract's words, and then what this service settled where the contract is
 * silent. `coverage.ts` finds the tests of each by their titles.
 */
export const rules: readonly Rule[] = [
  ...serviceRules,
  ...resourceRules,
  ...endpointRules,
  ...chatRules,
  ...errorRules,
  ...decisionRules,
];
