const { mock, test } = require('node:test');
const { printOutcome } = require('./outcome.cjs');

test('a delivery', () => printOutcome(() => mock.timers.enable()));
