import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { canonicalJson } from './canonicalJson.js';
import { fingerprint, type FingerprintInput } from './fingerprint.js';

/** The same value with the keys of every object in another order. */
function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, shuffled(inner)]),
  );
}

describe('canonical JSON', () => {
  test('does not depend on the order of keys', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => canonicalJson(value) === canonicalJson(shuffled(value))));
  });

  test('tells different values apart, and reads back as the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        assert.deepEqual(JSON.parse(canonicalJson(value)), JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test('keeps fields with names that JavaScript treats apart', () => {
    const text = '{"__proto__":{"a":1},"b":2}';
    assert.equal(canonicalJson(JSON.parse(text)), text);
  });

  test('takes text that is not well-formed Unicode, and U+0000', () => {
    assert.notEqual(canonicalJson('\ud800'), canonicalJson('\udfff'));
    assert.equal(canonicalJson('\u0000'), '"\\u0000"');
  });
});

describe('the fingerprint', () => {
  const input: FingerprintInput = {
    endpoint: '/v1/internalizations',
    tenant_id: null,
    subject_id: 'subject',
    adapter_version: undefined,
    request: { kind: 'internalization', content: 'passage', max_cost_microusd: 1_000_000, activate: true },
  };

  test('is the same for the same input', () => {
    assert.ok(fingerprint(input).equals(fingerprint({ ...input })));
  });

  test('differs by endpoint, "the tenant and subject as resolved; `adapter_version` as sent", and every field', () => {
    const variants: FingerprintInput[] = [
      input,
      { ...input, endpoint: '/v1/inferences' },
      { ...input, tenant_id: 'tenant' },
      { ...input, subject_id: 'another' },
      { ...input, subject_id: null },
      { ...input, adapter_version: 'base' },
      {
        ...input,
        request: { kind: 'internalization', content: 'other', max_cost_microusd: 1_000_000, activate: true },
      },
      {
        ...input,
        request: { kind: 'internalization', content: 'passage', max_cost_microusd: 1_000_001, activate: true },
      },
      {
        ...input,
        request: { kind: 'internalization', content: 'passage', max_cost_microusd: 1_000_000, activate: false },
      },
    ];
    const distinct = new Set(variants.map((variant) => fingerprint(variant).toString('hex')));
    assert.equal(distinct.size, variants.length);
  });
});
