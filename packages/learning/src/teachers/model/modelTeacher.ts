import type { AdapterReference } from '@engraft/engine';
import type { Recipe } from '../../recipe/recipe.js';
import type { Teacher } from '../../teaching/teacher.js';
import type { TeachingAid } from './aid.js';
import { askAbout } from './askingAbout.js';
import { confirmFacts } from './confirming.js';
import { proposeFacts } from './proposing.js';
import { modelTeacherSettings } from './settings.js';

/**
 * A model does all the work, in whatever language it reads. It names what could be asked for, asks for it, and is asked
 * again. `adapter` makes it do so better; it is `null` for a model that needs none. An `aid` helps a small model.
 */
export function modelTeacher(
  recipe: Recipe,
  adapter: AdapterReference | null,
  aid: TeachingAid | null = null,
): Teacher {
  return {
    name: 'model',

    measure: ({ chunks }) => {
      const factCount = chunks.reduce((sum, { text }) => sum + expectedFacts(text), 0);
      return Promise.resolve({ factCount, extraReads: 0 });
    },

    teach: async (calls, passage, plan, seed) => {
      const facts = await proposeFacts({ calls, passage, recipe, adapter, seed, aid }, plan);
      return facts === null ? null : { facts, understood: true };
    },

    confirm: async (calls, passage, facts) => {
      const confirmed = await confirmFacts({ calls, passage, recipe, adapter }, facts);
      return aid === null ? confirmed : aid.complete(passage, confirmed);
    },

    askAbout: (calls, sentences, seed) => askAbout({ calls, recipe, adapter, seed }, sentences),

    reading: ({ chunks }, { chunk }, question) => ({
      prompt: recipe.prompts.reading(chunks[chunk]?.text ?? '', question),
      adapter,
    }),
  };
}

function expectedFacts(text: string): number {
  return Math.max(1, Math.round(text.trim().length / modelTeacherSettings.charsPerFact));
}
