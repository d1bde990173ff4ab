/** Reads forms as older jobs stored them, when trust followed from a form's origin instead of a field of its own. */
import { z } from 'zod';

const earlierSchema = z.looseObject({
  origin: z.enum(['stated', 'asked', 'listed', 'derived', 'template', 'rephrased', 'keywords', 'recognised', 'cloze']),
  standing: z.undefined().optional(),
});
type EarlierOrigin = z.infer<typeof earlierSchema>['origin'];

const standings: Partial<Record<EarlierOrigin, string>> = { keywords: 'words', recognised: 'recognised', cloze: 'gap' };
const testRanks: Partial<Record<EarlierOrigin, number>> = { template: 0, rephrased: 2 };
const plainRanks: Partial<Record<EarlierOrigin, number>> = { derived: 0, template: 1 };

/** Turns such a form into today's. Anything else is left as it is, for the schema to judge. */
export function upgradeForm(stored: unknown): unknown {
  const earlier = earlierSchema.safeParse(stored);
  if (!earlier.success) return stored;
  const { origin } = earlier.data;
  return {
    ...earlier.data,
    standing: standings[origin] ?? 'question',
    testRank: testRanks[origin] ?? 1,
    plainRank: plainRanks[origin] ?? 2,
    ...(origin === 'stated' ? { quoted: true } : {}),
  };
}
