import * as Flags from '@oclif/core/flags';
import { type Inspection, inspect, problemOf } from '../src/app/inspect.ts';
import { StoreCommand } from '../src/cli/base-command.ts';
import { exitCodeOf } from '../src/cli/error-report.ts';
import { requiredArg } from '../src/cli/flags/args.ts';
import { parseRows } from '../src/cli/flags/parse-values.ts';
import { renderInspection } from '../src/cli/render/inspection.ts';

export default class Inspect extends StoreCommand {
  static override summary = 'Show what one object is: its format is guessed from its bytes.';
  static override description =
    'Knows BLTE, archives and their indices, every manifest and config, every root with its tables of names, patches, tables of version services, key lists, encoding specs, and the files of installations. What is wrapped is unwrapped and shown as well; keys come from the store. An object that is called by a hash (HASH, or HASH.install) is checked against its name. Of long lists and tables a first part is shown.';
  static override args = {
    object: requiredArg(
      'A file, - for stdin, or an object, manifest or entry of the store by its key (32 hex digits).',
    ),
  };
  static override flags = {
    rows: Flags.string({ summary: 'Rows of the table to show, counted from 0. Default 0-9.', helpValue: 'A-B' }),
    all: Flags.boolean({ summary: 'Show all rows and all of long lists.', exclusive: ['rows'] }),
    key: Flags.string({
      summary: 'Key file (NAME.ak) of an object that is encrypted as a whole (Armadillo).',
      helpValue: 'FILE',
    }),
    encoded: Flags.boolean({ summary: 'Show the wrapping (the chunks of a BLTE object), not what is inside.' }),
  };
  static override examples = [
    '<%= config.bin %> inspect 0017a402f556fbece46c38dc431a2c9b.index --rows 100-119',
    '<%= config.bin %> inspect encoding.blte --encoded',
    'curl -s https://example.org/tpr/wow/config/0f/2a/HASH | <%= config.bin %> inspect -',
    '<%= config.bin %> inspect 903cc3552ca1075d5bdc264eab8e2480 --store games --json',
  ];

  async run(): Promise<Inspection> {
    const { args, flags } = await this.parse(Inspect);
    const { encoded, key, all } = flags;
    const allRows = { first: 0, last: Number.POSITIVE_INFINITY };
    const rows = flags.rows === undefined ? (all ? allRows : undefined) : parseRows(flags.rows);
    const object = args.object === '-' ? process.stdin : args.object;
    const options = { rows, encoded, key, signal: this.signal };
    const inspection = await this.withSession(flags, (session) => inspect(session, object, options));
    this.log(renderInspection(inspection, this.width, all));
    const problem = problemOf(inspection);
    if (problem !== undefined) process.exitCode = exitCodeOf(problem.code);
    return inspection;
  }
}
