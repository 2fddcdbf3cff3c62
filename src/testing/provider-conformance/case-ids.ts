/**
 * The name of each case of providers, by its id. A name may be worded better; an id stays, because authors of
 * providers note it.
 */
export const providerCases: Readonly<Record<string, string>> = {
  handled: 'an event is handled once, with its id, its type and its key',
  duplicate: 'an event that is sent again is a duplicate',
  'not-utf8': 'an event that is not UTF-8 is parked, and no handler runs',
  'not-an-event': 'a body that is not an event is parked, and no handler runs',
  'stable-key': 'the key of an event is the same when it is sent again',
  replay: 'the event of a dead letter is handled by a replay, with the same key',
  'other-senders': 'an event of another provider with the same id is another event',
  'slow-store': 'with a slow store and slow dead letters, the sender is answered in time',
  'altered-body': 'an altered body is refused, and nothing is claimed',
  'other-key': 'a request signed by another key is refused, and nothing is claimed',
  'rotated-keys': 'a request signed by any of the keys is accepted',
  'missing-headers': 'without the headers of the signature, or without one of them, nothing is handled',
  'repeated-headers': 'a header of the signature that is sent twice is refused',
  'old-time': 'a request that was signed long ago is expired, if the time is signed; it is never parked',
  'future-time': 'a request that was signed far ahead is expired, if the time is signed; it is never parked',
};
