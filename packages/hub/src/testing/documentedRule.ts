import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';

const page = new URL('../../../../docs/models.md', import.meta.url);

/**
 * A test whose title is a sentence of docs/models.md, word for word. If the rule is reworded, somebody looks at the
 * test again.
 */
export function documentedRule(sentence: string, check: (t: TestContext) => Promise<void>): void {
  test(sentence, async (t) => {
    const text = readFileSync(page, 'utf8').replaceAll(/\s+/g, ' ');
    assert.ok(text.includes(sentence), 'docs/models.md says so');
    await check(t);
  });
}
