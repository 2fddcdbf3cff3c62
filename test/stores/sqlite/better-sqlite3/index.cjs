// Stands for better-sqlite3, which would have to be compiled: libsql has its interface.
module.exports = require('libsql');
