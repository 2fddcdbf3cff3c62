const { writeSync } = require('node:fs');

const { BUILD, WHEN } = process.env;

const load = (name) => (BUILD === 'require' ? require(name) : import(name));

/** Prints the status of a delivery, or why there is none; `fake` installs fake timers. */
exports.printOutcome = async (fake) => {
  if (WHEN === 'before') fake();
  const { createReceiver } = await load('posthorn');
  const { createEvent, deliver } = await load('posthorn/testing');
  if (WHEN === 'after') fake();
  try {
    const receiver = createReceiver({ signingKey: 'key' })
      .on('*', () => {})
      .observe(() => {});
    const { status } = await deliver(receiver, createEvent('transfer.created'), { key: 'key' });
    writeSync(1, `outcome: ${status}\n`);
  } catch (error) {
    writeSync(1, `outcome: ${error.code} ${error.message}\n`);
  }
};
