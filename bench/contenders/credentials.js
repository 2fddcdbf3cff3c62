/** What every contender expects of its sender. The load generator signs with the same. */
export const signingKey = 'bench_5f1d6c0a9e7b4c3d8a2f';
export const bearerToken = 'bench-bearer-5f1d6c0a9e7b4c3d8a2f';
