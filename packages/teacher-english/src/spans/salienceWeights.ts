/**
 * Printed by `node bench/learning-salience.mjs`, which fits them to what is asked of the passages in
 * `bench/learning/passages.jsonl`.
 */
export const salienceWeights = {
  always: 0.15,
  phrase: -1.98,
  name: 1.2,
  quantity: 0.73,
  subject: -0.74,
  lightPhrase: -0.54,
  repeatedPhrase: -0.34,
  describedPhrase: -0.58,
  coordinatedPhrase: -0.52,
  placedPhrase: 0.51,
  verbPhrase: -0.96,
  longPhrase: -0.36,
  kindPhrase: 0.6,
  repeatedName: -0.44,
  protagonist: -1.62,
  openingName: -1.2,
  fewQuantity: -0.7,
  bareQuantity: -0.7,
  late: 0.33,
  crowded: -0.88,
};
