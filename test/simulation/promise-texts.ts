/** The promises that are checked in every state of every world, as docs/how-it-works.md lists them. */
export const promiseTexts = [
  'without a fault no lease runs out',
  'no event is dropped while a run has a lease that holds',
  'handlers begin only on a lease that holds',
  'handlers begin only while no other run has a lease that holds',
  'without a fault one run at a time has its handlers running, until maxRunMs',
  'no handlers begin after the completion is known',
  'the letter of a last attempt is stored before its handlers run',
  'no delivery and no replay fails after a release was told of the completion',
  'no delivery is refused before its deadline because its event is running',
  'no lease is renewed for handlers that should have ended long ago',
  'no letter is removed before its event is handled or dropped',
  'no completion is sent again once it is answered',
  'no 2xx before the event is handled or parked',
  'the replay of an event that was handled is a duplicate, and removes the letter',
  'nobody takes an id from a run whose lease holds',
  'no permit, timer, body or listener is left when nothing happens any more',
  'every replay and every drop ends',
  'every delivery is answered',
  'the last delivery is not refused while letters can be stored',
  'an event that was handled is recorded',
  'no letter is left of an event that was handled',
  'an event that is not handled is parked',
] as const;

export type PromiseText = (typeof promiseTexts)[number];
