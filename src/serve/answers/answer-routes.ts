import type { FastifyInstance } from 'fastify';
import { makeCdns, makeVersions, type ServiceAnswer } from '../../publish/manifests/configs.ts';
import type { Serving } from '../serving.ts';
import { liveBuild } from './live-builds.ts';

/** Answers as the version services do: `/PRODUCT/versions`, `/v2/products/PRODUCT/versions`, and the same for `cdns`. */
export function addAnswerRoutes(app: FastifyInstance, serving: Serving): void {
  const tables = { versions: makeVersions, cdns: makeCdns };
  for (const [endpoint, make] of Object.entries(tables)) {
    for (const url of [`/:product/${endpoint}`, `/v2/products/:product/${endpoint}`]) {
      app.get<{ Params: { product: string } }>(url, async ({ params }, reply) => {
        await serving.pull?.learnBuild(params.product);
        const answer = answerOf(serving, params.product);
        if (answer === undefined) return reply.callNotFound();
        return reply.type('text/plain').send(Buffer.from(make(answer)));
      });
    }
  }
}

const regions = ['us', 'eu', 'kr', 'tw', 'cn'];

function answerOf({ store, publicHost }: Serving, product: string): ServiceAnswer | undefined {
  const build = liveBuild(store, product);
  if (build === undefined) return undefined;
  return {
    product,
    version: build.name,
    buildId: Number(build.buildId ?? 0),
    buildConfig: build.buildConfig,
    cdnConfig: build.cdnConfig,
    productConfig: build.productConfig ?? '',
    keyRing: build.keyRing ?? '',
    regions,
    seqn: 1,
    cdnPath: build.cdnPath,
    configPath: build.configPath,
    hosts: [publicHost()],
  };
}
