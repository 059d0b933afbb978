import * as Args from '@oclif/core/args';

/** An argument that must be there. Commands read their standard input themselves, or not at all. */
export const requiredArg = (description: string) => Args.string({ description, required: true, ignoreStdin: true });

/** An argument that may be left away. */
export const optionalArg = (description: string) => Args.string({ description, ignoreStdin: true });

/** The help for a source, for each command that takes one. */
export const sourceHelp =
  'PRODUCT or PRODUCT@BUILD, or the path of a PAK, a game directory, an installed game or a CDN folder (PATH@BUILD).';

/** The argument of each command that reads one source. */
export const sourceArg = requiredArg(sourceHelp);
