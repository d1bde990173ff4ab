/** Questions for when a train, bus or ship is at a stop. */
import type { Told } from '@engraft/learning/parts';
import type { Wordings } from './wordings.js';

type Stop = Extract<Told, { kind: 'stop' }>;

/** "R 11" and "the train R 11"; "the first bus" as it is. */
export function rideNames({ ride, noun }: Stop): string[] {
  return noun === null || ride.startsWith('the ') ? [ride] : [ride, `the ${noun} ${ride}`, `the ${ride}`];
}

/**
 * Trained ask with the ride before the stop. What tests begins with the stop, so that it says whether both were learned
 * rather than their order.
 */
export function ofStop(told: Stop): Wordings {
  const { stop } = told;
  const names = rideNames(told);
  const at = (index: number): string => names[index % names.length] ?? told.ride;
  return {
    restated: `When is ${at(0)} at ${stop}?`,
    asked: [
      `When does ${at(0)} leave ${stop}?`,
      `At what time is ${at(1)} at ${stop}?`,
      `When does ${at(2)} arrive at ${stop}?`,
      `At what time does ${at(0)} stop at ${stop}?`,
      `What time does ${at(1)} leave ${stop}?`,
      `When does ${at(1)} reach ${stop}?`,
      `At what time does ${at(2)} go from ${stop}?`,
      `What time is ${at(0)} in ${stop}?`,
      `When does ${at(0)} come to ${stop}?`,
      `At what time does ${at(1)} arrive in ${stop}?`,
    ],
    test: `From ${stop}, what is the time of ${at(names.length - 1)}?`,
  };
}
