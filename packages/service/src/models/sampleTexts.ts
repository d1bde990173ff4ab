/**
 * Texts to try a model with: a passage of 1,000 characters, like those people have learned, and a question about it.
 */

export const samplePassage =
  'The lighthouse of Varn was built by Ada Kell in 1874. It stands on a rock of basalt two miles off the coast of ' +
  'Orlen, and it is forty metres high. Ada Kell had built three bridges before, all of them of iron. The tower is made ' +
  'of granite, which came by ship from the quarries of Dorn. The work took four years and cost 62,000 crowns, a third ' +
  'more than had been planned. The first keeper was Tomas Reed, who lived on the rock with his wife and two daughters ' +
  'until 1891. The lamp burned rapeseed oil until 1902, when it was replaced by one for paraffin. Since 1958 it has ' +
  'been electric, and since 1984 nobody has lived there. A storm broke eleven panes of the lantern in January 1913; ' +
  'the light was out for two nights. The lighthouse belongs to the harbour board of Orlen, which opens it to visitors ' +
  'from May to September. A boat leaves the old quay at nine and at two, and the crossing takes half an hour. ' +
  'Tickets cost 14 crowns, and half of that for children. The council repaired the stairs in 2009.';

export const sampleQuestion = 'Who built the lighthouse of Varn?';
export const sampleAnswers = {
  values: 'Ada Kell',
  sentences: 'The lighthouse of Varn was built by Ada Kell in 1874.',
} as const;

/** As a model replies to something else. */
export const sampleReply =
  'A lighthouse is a tower with a bright light at its top. It stands where ships come near rocks or shallow water, ' +
  'and tells those on board where they are.';
