/* A session of the library is closed at a hundred random moments. */

process.env.PAKRAT_MOMENTS ??= '100';
await import('../acceptance/closed-session.test.ts');
