/** Requires each subpath of the package, and prints what became of the deliveries as one line of JSON. */
const subpaths = {
  core: require('posthorn'),
  client: require('posthorn/client'),
  express: require('posthorn/express'),
  fetch: require('posthorn/fetch'),
  file: require('posthorn/file'),
  node: require('posthorn/node'),
  operator: require('posthorn/operator'),
  redis: require('posthorn/redis'),
  sandbox: require('posthorn/sandbox'),
  testing: require('posthorn/testing'),
};

async function main() {
  const { nameRuntime, receiveDeliveries } = await import('./deliveries.mjs');
  const { receiveFetchDeliveries } = await import('./fetch-deliveries.mjs');
  const results = { ...(await receiveDeliveries(subpaths)), fetch: await receiveFetchDeliveries(subpaths) };
  process.stdout.write(`${JSON.stringify({ runtime: nameRuntime(), ...results })}\n`);
}

main();
