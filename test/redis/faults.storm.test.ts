import { ioredis5, ioredis6 } from './drivers.ts';
import { describeTroubles, names } from './troubles.ts';

const forMajor5 = ['has gone without closing the connection', 'fails over by Sentinel'];

describeTroubles(
  ioredis6,
  names.filter((name) => !forMajor5.includes(name)),
);
describeTroubles(ioredis5, forMajor5);
