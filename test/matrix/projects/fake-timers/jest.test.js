const { printOutcome } = require('./outcome.cjs');

test('a delivery', () => printOutcome(() => jest.useFakeTimers()));
