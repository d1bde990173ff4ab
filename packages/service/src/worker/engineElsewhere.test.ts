import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EngraftClient } from '@engraft/client';
import { EngineError } from '@engraft/engine';
import { scriptedEngine } from '../testing/scriptedEngine.js';
import { startTestService } from '../testing/testService.js';

const asked = {
  subject_id: 'anna',
  messages: [{ role: 'user' as const, content: 'Who?' }],
  max_output_tokens: 5,
  temperature: 0,
};

/** A fault injector: an engine elsewhere that took a call, and of which nobody knows what it did. */
describe('work that an engine elsewhere may have done', () => {
  for (const code of ['receipt_missing', 'receipt_inconsistent'] as const) {
    it(`is neither repeated nor charged, and its money stays reserved: ${code}`, async () => {
      let calls = 0;
      const engine = scriptedEngine(() => {
        calls += 1;
        return Promise.reject(new EngineError(code, 'a server was asked'));
      });
      const service = await startTestService(engine);
      try {
        const client = new EngraftClient({ baseUrl: service.url, apiKey: service.key.secret, maxRetries: 0 });
        const job = await client.jobs.wait((await client.inferences.create(asked)).id);
        assert.deepEqual([job.status, job.error?.code, calls], ['reconciliation_required', code, 1]);
        assert.ok(job.billing.reserved_microusd > 0);
        assert.deepEqual([job.billing.charged_microusd, job.billing.settled], [0, false]);
      } finally {
        await service.stop();
      }
    });
  }
});
