import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { resolveTenant } from './resolveTenant.js';

const named = fc.option(fc.constantFrom('a', 'b'), { nil: undefined });
const restriction = fc.constantFrom('a', 'b', null);

test('"When both are present they must match."', () => {
  assert.equal(resolveTenant({ keyTenantId: null, header: 'a', body: 'b' }).kind, 'disagreement');
  assert.deepEqual(resolveTenant({ keyTenantId: null, header: 'a', body: 'a' }), {
    kind: 'resolved',
    tenant_id: 'a',
  });
});

test('"A tenant-restricted key supplies its own tenant when none is given, and rejects a different tenant."', () => {
  const own = { kind: 'resolved', tenant_id: 'a' };
  assert.deepEqual(resolveTenant({ keyTenantId: 'a', header: undefined, body: undefined }), own);
  assert.deepEqual(resolveTenant({ keyTenantId: 'a', header: 'a', body: undefined }), own);
  assert.equal(resolveTenant({ keyTenantId: 'a', header: 'b', body: undefined }).kind, 'foreign_tenant');
  assert.equal(resolveTenant({ keyTenantId: 'a', header: undefined, body: 'b' }).kind, 'foreign_tenant');
});

test('"An unrestricted key with no tenant uses the project namespace."', () => {
  const outcome = resolveTenant({ keyTenantId: null, header: undefined, body: undefined });
  assert.deepEqual(outcome, { kind: 'resolved', tenant_id: null });
});

test('a resolved tenant never contradicts the key, the header or the body', () => {
  fc.assert(
    fc.property(restriction, named, named, (keyTenantId, header, body) => {
      const outcome = resolveTenant({ keyTenantId, header, body });
      if (outcome.kind !== 'resolved') return;
      for (const claim of [keyTenantId ?? undefined, header, body]) {
        assert.ok(claim === undefined || claim === outcome.tenant_id);
      }
      assert.ok(
        outcome.tenant_id !== null ||
          [keyTenantId, header, body].every((claim) => claim === null || claim === undefined),
      );
    }),
  );
});
