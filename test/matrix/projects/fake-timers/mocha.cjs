const { useFakeTimers } = require('sinon');
const { printOutcome } = require('./outcome.cjs');

describe('fake timers', () => {
  let clock;
  it('a delivery', () =>
    printOutcome(() => {
      clock = useFakeTimers();
    }));
  after(() => clock.restore());
});
