import { makeOwnTree } from './own-tree/make-tree.ts';
import { type TreeMaker, treesOf } from './served-cdn.ts';

/*
 * A CDN that the project makes and serves itself: for tests of faults, kills and the like, which compare bytes with those that were served, whoever made
 * them. What is about formats, names and tables of the truth takes `synthetic-cdn.ts`.
 */

/** The project itself. */
export const ownMaker: TreeMaker = {
  make: makeOwnTree,
  server: [process.execPath, 'test/support/own-tree/server.js'],
};

export const { makeTree, serveTree, syntheticCdn } = treesOf(ownMaker);
