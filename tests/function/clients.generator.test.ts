/** Clients that generators make of docs/openapi.yaml, used against the local stack. */
import { execFile, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readKey } from '../../lib/issuer-keys.ts';
import { signToken } from '../../lib/issuer-tokens.ts';
import { ROOT } from '../../lib/paths.ts';
import { startStack, type Stack } from '../../local/stack.ts';
import { createFolder } from '../helpers/data-folder.ts';
import { unless } from '../helpers/needs.ts';

const folder = createFolder(afterAll);
const keysFile = join(folder, 'keys.json');
/** It is none of the service's. */
const OTHER_ID = '0f8fad5b-d9cb-469f-a165-70867728950e';

const TYPESCRIPT = `
import { createClient } from './gen/client';
import { listInquiries, submitInquiry } from './gen/sdk.gen';
const { URL: baseUrl, TOKEN: auth } = process.env;
const client = createClient({ baseUrl, auth });
for (const subject of ['one', 'two'])
  await submitInquiry({ client, body: { subject, body: '' }, headers: { 'Idempotency-Key': subject } });
const list = (before) => listInquiries({ client, query: { limit: 1, before } });
const first = (await list()).data.inquiries[0];
const next = (await list(first.id)).data.inquiries[0];
const bad = await list('${OTHER_ID}');
const refused = await listInquiries({ client: createClient({ baseUrl }) });
console.log([first.subject, next.subject, bad.response.status, bad.error.error, refused.response.status, refused.error.message].join());`;

const PYTHON = `
import os, uuid
from gen import AuthenticatedClient
from gen.api.inquiries import list_inquiries, submit_inquiry
from gen.models import CreateInquiryRequest
url = os.environ['URL']
client = AuthenticatedClient(base_url=url, token=os.environ['TOKEN'])
for subject in ['one', 'two']:
    body = CreateInquiryRequest(subject=subject, body='')
    submit_inquiry.sync(client=client, body=body, idempotency_key=subject)
first = list_inquiries.sync(client=client, limit=1).inquiries[0]
next = list_inquiries.sync(client=client, limit=1, before=first.id).inquiries[0]
bad = list_inquiries.sync_detailed(client=client, before=uuid.UUID('${OTHER_ID}'))
refused = list_inquiries.sync_detailed(client=AuthenticatedClient(base_url=url, token='x'))
print(first.subject, next.subject, bad.status_code.value, bad.parsed.error, refused.status_code.value, refused.parsed.message, sep=',')`;

const GO = `package main
import ("context"; "fmt"; "net/http"; "os"; "github.com/google/uuid"; "inquiries/gen")
func ok(err error) { if err != nil { panic(err) } }
func main() {
  ctx, one := context.Background(), 1
  anyone, err := gen.NewClientWithResponses(os.Getenv("URL"))
  ok(err)
  client, err := gen.NewClientWithResponses(os.Getenv("URL"), gen.WithRequestEditorFn(
    func(_ context.Context, request *http.Request) error {
      request.Header.Set("Authorization", "Bearer " + os.Getenv("TOKEN"))
      return nil
    }))
  ok(err)
  for _, subject := range []string{"one", "two"} {
    _, err := client.SubmitInquiryWithResponse(ctx, &gen.SubmitInquiryParams{IdempotencyKey: &subject}, gen.CreateInquiryRequest{Subject: subject})
    ok(err)
  }
  list, err := client.ListInquiriesWithResponse(ctx, &gen.ListInquiriesParams{Limit: &one})
  ok(err)
  first := list.JSON200.Inquiries[0]
  list, err = client.ListInquiriesWithResponse(ctx, &gen.ListInquiriesParams{Limit: &one, Before: &first.Id})
  ok(err)
  next := list.JSON200.Inquiries[0]
  other := uuid.MustParse("${OTHER_ID}")
  bad, err := client.ListInquiriesWithResponse(ctx, &gen.ListInquiriesParams{Before: &other})
  ok(err)
  problem, err := bad.JSON400.AsErrorResponseBody()
  ok(err)
  refused, err := anyone.ListInquiriesWithResponse(ctx, &gen.ListInquiriesParams{})
  ok(err)
  reply, err := refused.JSON401.AsGatewayReply()
  ok(err)
  fmt.Printf("%s,%s,%d,%s,%d,%s\\n", first.Subject, next.Subject, bad.StatusCode(), problem.Error, refused.StatusCode(), reply.Message)
}`;

/** A generator: the command that is there where it is, the line that brings it, the program and how it runs. */
const GENERATORS = [
  {
    name: 'TypeScript',
    probe: 'openapi-ts --version',
    install: 'npm install --global @hey-api/openapi-ts typescript@5',
    file: 'main.ts',
    program: TYPESCRIPT,
    commands: ['openapi-ts --input openapi.yaml --output gen', 'node main.mjs'],
  },
  {
    name: 'Python',
    probe: 'python3 -m openapi_python_client --version',
    install: 'pip install openapi-python-client',
    file: 'main.py',
    program: PYTHON,
    commands: [
      'python3 -m openapi_python_client generate --path openapi.yaml --output-path gen --meta none --overwrite',
      'python3 main.py',
    ],
  },
  {
    name: 'Go',
    probe: 'oapi-codegen --version',
    install: 'go install github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@latest',
    file: 'main.go',
    program: GO,
    commands: [
      'go mod init inquiries',
      'oapi-codegen -generate types,client -package gen -o gen/client.go openapi.yaml',
      'go mod tidy',
      'go run .',
    ],
  },
];

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ keysFile, log: () => undefined });
  return () => stack.close();
});

for (const { name, probe, install, file, program, commands } of GENERATORS) {
  const [command = '', ...args] = probe.split(' ');
  const isThere = spawnSync(command, args).status === 0;
  const obstacle = isThere ? undefined : `the generator for ${name} is missing (${install})`;
  it(`creates, lists, pages and meets a 400 and a 401 in ${name}`, unless(obstacle), async () => {
    const cwd = join(folder, name);
    mkdirSync(join(cwd, 'gen'), { recursive: true });
    writeFileSync(join(cwd, file), program);
    cpSync(join(ROOT, 'docs/openapi.yaml'), join(cwd, 'openapi.yaml'));
    const key = await readKey(keysFile);
    const TOKEN = await signToken(key, stack.issuer.url, { email: `${name}@example.com` });
    const env = { ...process.env, URL: stack.state.gateway, TOKEN };
    let output = '';
    for (const line of commands) {
      if (line === 'node main.mjs') await bundle(cwd);
      const [tool = '', ...rest] = line.split(' ');
      output = (await promisify(execFile)(tool, rest, { cwd, env })).stdout;
    }
    expect(output).toBe('two,one,400,BAD_REQUEST,401,Unauthorized\n');
  });
}

/** What it makes imports files without their suffix. */
const bundle = async (cwd: string) =>
  build({
    absWorkingDir: cwd,
    entryPoints: ['main.ts'],
    outfile: 'main.mjs',
    bundle: true,
    format: 'esm',
    platform: 'node',
  });
