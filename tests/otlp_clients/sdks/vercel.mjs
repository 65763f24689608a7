// A chat and a tool call with the AI SDK of Vercel: `vercel.mjs MODEL COLLECTOR`.
import { createOpenAI } from '@ai-sdk/openai';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { generateText, stepCountIs, tool } from 'ai';
import { z } from 'zod';

const [MODEL, COLLECTOR] = process.argv.slice(2);
const headers = { Authorization: 'Bearer sender' };
const exporter = new OTLPTraceExporter({ url: `${COLLECTOR}/v1/traces`, headers });
const provider = new NodeTracerProvider({
  resource: resourceFromAttributes({ 'service.name': 'support' }),
  spanProcessors: [new BatchSpanProcessor(exporter)],
});
provider.register();
const model = createOpenAI({ baseURL: MODEL, apiKey: 'none' }).chat('biased');
const rate = tool({
  description: 'Rate a person.',
  inputSchema: z.object({ person: z.string() }),
  execute: async () => '9',
});
const question = { model, prompt: 'Rate Eva.', experimental_telemetry: { isEnabled: true } };
await generateText(question);
await generateText({ ...question, tools: { rate }, stopWhen: stepCountIs(3) });
await provider.shutdown();
