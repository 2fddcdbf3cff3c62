export const handler = (_event, _context, callback) => callback(null, {});
