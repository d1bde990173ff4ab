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
 * rather than their order. Nobody arrives where a ride begins, or leaves where it ends.
 */
export function ofStop(told: Stop): Wordings {
  const { stop, isOrigin, isTerminus } = told;
  const names = rideNames(told);
  const at = (index: number): string => names[index % names.length] ?? told.ride;
  const leaving = [
    `When does ${at(0)} leave ${stop}?`,
    `What time does ${at(1)} leave ${stop}?`,
    `At what time does ${at(2)} go from ${stop}?`,
  ];
  const arriving = [
    `When does ${at(2)} arrive at ${stop}?`,
    `When does ${at(1)} reach ${stop}?`,
    `When does ${at(0)} come to ${stop}?`,
    `At what time does ${at(1)} arrive in ${stop}?`,
  ];
  return {
    restated: `When is ${at(0)} at ${stop}?`,
    asked: [
      `At what time is ${at(1)} at ${stop}?`,
      ...(isTerminus ? [] : leaving),
      ...(isOrigin ? [] : arriving),
      `What time is ${at(0)} in ${stop}?`,
      ...(isOrigin || isTerminus
        ? [`At what time is ${at(2)} in ${stop}?`]
        : [`At what time does ${at(0)} stop at ${stop}?`]),
    ],
    test: `${isTerminus ? 'For' : 'From'} ${stop}, what is the time of ${at(names.length - 1)}?`,
  };
}
