import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scopes } from '@engraft/contract';
import fc from 'fast-check';
import { decideJobAccess } from './decideJobAccess.js';

const reader = fc.record({ key_id: fc.constantFrom('mine', 'other'), scopes: fc.subarray([...scopes]) });
const tenant = fc.constantFrom('a', 'b', null);
const job = fc.option(
  fc.record({
    tenant_id: tenant,
    api_key_id: fc.constantFrom('mine', 'other'),
    kind: fc.constantFrom('inference', 'internalization'),
  }),
);

test('"A key with `inference` or `internalize` can read jobs it submitted under that scope."', () => {
  const mine = { tenant_id: null, api_key_id: 'mine' };
  const inferring = { key_id: 'mine', scopes: ['inference'] } as const;
  const learning = { key_id: 'mine', scopes: ['internalize'] } as const;
  assert.equal(decideJobAccess(inferring, null, { ...mine, kind: 'inference' }), 'visible');
  assert.equal(decideJobAccess(learning, null, { ...mine, kind: 'internalization' }), 'visible');
  assert.equal(decideJobAccess(learning, null, { ...mine, kind: 'inference' }), 'insufficient_scope');
});

test('"Other keys need `read` in the same tenant."', () => {
  fc.assert(
    fc.property(reader, tenant, job, (asking, tenantId, found) => {
      if (!asking.scopes.includes('read')) return;
      const expected = found !== null && found.tenant_id === tenantId ? 'visible' : 'not_found';
      assert.equal(decideJobAccess(asking, tenantId, found), expected);
    }),
  );
});

test('"Knowledge from another tenant is never returned."', () => {
  fc.assert(
    fc.property(reader, tenant, job, (asking, tenantId, found) => {
      if (decideJobAccess(asking, tenantId, found) === 'visible') assert.equal(found?.tenant_id, tenantId);
    }),
  );
});

test('a key without `read` "gets 403 `insufficient_scope` for any other id, existing or not"', () => {
  fc.assert(
    fc.property(reader, tenant, job, (asking, tenantId, found) => {
      if (asking.scopes.includes('read')) return;
      const access = decideJobAccess(asking, tenantId, found);
      assert.notEqual(access, 'not_found');
      if (access === 'visible') assert.equal(found?.api_key_id, asking.key_id);
    }),
  );
});
