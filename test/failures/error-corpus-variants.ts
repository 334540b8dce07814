// How the corpus is written, and its errors of the network, databases, mail and services.

/** The same root problem at the same node or tool, which a person would want in one group, as different runs have it. */
export interface CorpusError {
  name: string
  subject: string
  httpStatus: string | null
  texts: string[]
}

/**
 * Reads errors: a line "# node | status or - | name", then one text a line, as it is: backslashes stay, \` is a
 * backtick, ⏎ a line break within a text.
 */
export function errorsIn(template: TemplateStringsArray): CorpusError[] {
  const errors: CorpusError[] = []
  const lines = String.raw(template).split('\n')
  for (const line of lines.map((one) => one.trim())) {
    if (line.startsWith('# ')) {
      const [subject, httpStatus, name] = line.slice(2).split(' | ') as [string, string, string]
      errors.push({ name, subject, httpStatus: httpStatus === '-' ? null : httpStatus, texts: [] })
    } else if (line !== '') errors.at(-1)!.texts.push(line.replaceAll('\\`', '`').replaceAll('⏎', '\n'))
  }
  return errors
}

export const SERVICE_ERRORS = errorsIn`
  # HTTP Request | - | connection refused
  request to http://127.0.0.1:8080/v1/orders failed, reason: connect ECONNREFUSED 127.0.0.1:8080
  request to http://localhost:3000/api/contacts?page=2&limit=50 failed, reason: connect ECONNREFUSED ::1:3000
  request to https://erp.internal.example/v2/items/48213 failed, reason: connect ECONNREFUSED 10.0.3.4:443
  request to http://[2001:db8::17]:9200/_search failed, reason: connect ECONNREFUSED 2001:db8::17:9200
  request to http://host.docker.internal:11434/api/chat failed, reason: connect ECONNREFUSED 172.17.0.1:11434
  # HTTP Request | - | connection timed out
  request to https://api.example.com/v1/orders failed, reason: connect ETIMEDOUT 203.0.113.7:443
  request to https://api.example.com/v1/orders?since=2024-05-01T00%3A00%3A00Z failed, reason: connect ETIMEDOUT 203.0.113.8:443
  request to http://10.1.2.3:8080/hook/6f1c failed, reason: connect ETIMEDOUT 10.1.2.3:8080
  request to https://erp.internal.example/v2/items/48214 failed, reason: connect ETIMEDOUT 2001:db8:85a3::8a2e:370:7334:443
  request to http://legacy-host:5000/ failed, reason: connect ETIMEDOUT 192.168.178.24:5000
  # HTTP Request | - | connection reset
  request to https://api.example.com/v1/orders failed, reason: read ECONNRESET
  request to https://api.example.com/v1/orders?cursor=eyJpZCI6NDgyMTN9 failed, reason: read ECONNRESET
  request to http://10.1.2.3:8080/hook/6f1c failed, reason: read ECONNRESET
  request to https://erp.internal.example/v2/items/48215 failed, reason: read ECONNRESET
  request to http://billing-svc/run/1b9d42 failed, reason: read ECONNRESET
  # HTTP Request | - | host unknown
  getaddrinfo ENOTFOUND api.exmaple.com
  getaddrinfo ENOTFOUND crm.internal.example
  getaddrinfo ENOTFOUND postgres
  getaddrinfo ENOTFOUND shop-8812.myshop.example
  getaddrinfo ENOTFOUND https
  # HTTP Request | - | name server does not answer
  getaddrinfo EAI_AGAIN api.example.com
  getaddrinfo EAI_AGAIN redis
  getaddrinfo EAI_AGAIN crm.internal.example
  getaddrinfo EAI_AGAIN shop-8812.myshop.example
  getaddrinfo EAI_AGAIN host.docker.internal
  # HTTP Request | - | certificate for another host
  Hostname/IP does not match certificate's altnames: Host: api.example.com. is not in the cert's altnames: DNS:*.example.net, DNS:example.net
  Hostname/IP does not match certificate's altnames: Host: crm.internal.example. is not in the cert's altnames: DNS:localhost
  Hostname/IP does not match certificate's altnames: Host: www.example.org. is not in the cert's altnames: DNS:example.org, DNS:mail.example.org, DNS:shop.example.org, DNS:cdn-2.example.org
  Hostname/IP does not match certificate's altnames: Host: erp.example. is not in the cert's altnames: DNS:*.hosting.example, DNS:hosting.example
  Hostname/IP does not match certificate's altnames: Host: a.b.example.com. is not in the cert's altnames: DNS:*.example.com
  # HTTP Request | 404 | order missing
  {"message":"Order 48213 could not be loaded","path":"/api/v2/orders/48213","timestamp":"2024-05-01T10:22:31.207Z"}
  {"message":"Order 48990 could not be loaded","path":"/api/v2/orders/48990","timestamp":"2024-05-02T00:00:00.001Z"}
  {"message":"Order 1,048,213 could not be loaded","path":"/api/v2/orders/1048213","timestamp":"2024-11-30T23:59:59Z"}
  {"message":"Order 7 could not be loaded","path":"/api/v2/orders/7","timestamp":"2025-01-01T08:15:00+02:00"}
  {"message":"Order SO-2024-0091 could not be loaded","path":"/api/v2/orders/SO-2024-0091","timestamp":"2024-05-01T10:22:33.207Z"}
  # HTTP Request | 500 | order service broken
  {"message":"Order 48213 could not be loaded","path":"/api/v2/orders/48213","timestamp":"2024-05-03T10:22:31.207Z"}
  {"message":"Order 49102 could not be loaded","path":"/api/v2/orders/49102","timestamp":"2024-05-04T04:41:09.118Z"}
  {"message":"Order 12 could not be loaded","path":"/api/v2/orders/12","timestamp":"2024-12-24T18:00:00Z"}
  {"message":"Order 1,049,000 could not be loaded","path":"/api/v2/orders/1049000","timestamp":"2025-02-11T07:00:12-05:00"}
  {"message":"Order SO-2024-0192 could not be loaded","path":"/api/v2/orders/SO-2024-0192","timestamp":"2024-05-03T10:22:33.207Z"}
  # HTTP Request | 400 | invalid API key
  Invalid API key (request 7c1e9a52-8b3d-4f6e-9a01-2b3c4d5e6f70)
  Invalid API key (request 00000000-0000-4000-8000-00000000000a)
  Invalid API key (request c0ffee00-dead-4bee-8fee-d00dfeedface)
  Invalid API key (request 9F8E7D6C-5B4A-4392-8170-6F5E4D3C2B1A)
  Invalid API key (request abababab-cdcd-4efe-9aba-cdcdcdcdcdcd)
  # HTTP Request | 400 | invalid API version
  Invalid API version (request 1a2b3c4d-5e6f-4071-8293-a4b5c6d7e8f9)
  Invalid API version (request 00000000-0000-4000-8000-00000000000b)
  Invalid API version (request facefeed-d00d-4fee-8bee-dead00c0ffee)
  Invalid API version (request 1A2B3C4D-5E6F-4071-8293-A4B5C6D7E8F9)
  Invalid API version (request efefefef-abab-4cdc-8efe-abababababab)
  # HTTP Request | 422 | lead with a bad address
  422 - "{\"error\":{\"code\":\"invalid_email\",\"message\":\"Lead 8812 was rejected\",\"value\":\"jane.doe@\"}}"
  422 - "{\"error\":{\"code\":\"invalid_email\",\"message\":\"Lead 9120 was rejected\",\"value\":\"n/a\"}}"
  422 - "{\"error\":{\"code\":\"invalid_email\",\"message\":\"Lead 10,004 was rejected\",\"value\":\"info(at)example.com\"}}"
  422 - "{\"error\":{\"code\":\"invalid_email\",\"message\":\"Lead 3 was rejected\",\"value\":\"\"}}"
  422 - "{\"error\":{\"code\":\"invalid_email\",\"message\":\"Lead 8813 was rejected\",\"value\":\"\\\"Jane\\\" jane.doe@example\"}}"
  # HTTP Request | 422 | lead that exists already
  422 - "{\"error\":{\"code\":\"duplicate_lead\",\"message\":\"Lead 8814 was rejected\",\"value\":\"jane.doe@example.com\"}}"
  422 - "{\"error\":{\"code\":\"duplicate_lead\",\"message\":\"Lead 9121 was rejected\",\"value\":\"info@example.org\"}}"
  422 - "{\"error\":{\"code\":\"duplicate_lead\",\"message\":\"Lead 10,005 was rejected\",\"value\":\"j.doe+test@mail.example.net\"}}"
  422 - "{\"error\":{\"code\":\"duplicate_lead\",\"message\":\"Lead 4 was rejected\",\"value\":\"a@b.example\"}}"
  422 - "{\"error\":{\"code\":\"duplicate_lead\",\"message\":\"Lead 77 was rejected\",\"value\":\"billing-2024@example.com\"}}"
  # HTTP Request | 429 | too many requests, with a wait
  Too many requests from 203.0.113.7, please try again in 1 minute.
  Too many requests from 203.0.113.7, please try again in 45 seconds.
  Too many requests from 2001:db8::1, please try again in 2 hours.
  Too many requests from 198.51.100.24, please try again in 850ms.
  Too many requests from 10.0.0.12, please try again in 1m12s.
  Too many requests from 203.0.113.199, please try again in 15 minutes.
  # HTTP Request | - | Cloudflare: rate limited
  error code: 1015 (Ray ID: 8f2d1c0b9a7e6d5c-FRA, IP: 203.0.113.7)
  error code: 1015 (Ray ID: 7a6b5c4d3e2f1a0b-AMS, IP: 203.0.113.7)
  error code: 1015 (Ray ID: 90abcdef12345678-IAD, IP: 2001:db8::77)
  error code: 1015 (Ray ID: 8f2d1c0b9a7e6d5d-FRA, IP: 198.51.100.4)
  error code: 1015 (Ray ID: 6e6e6e6e6e6e6e6e-SIN, IP: 203.0.113.250)
  # HTTP Request | - | Cloudflare: access denied
  error code: 1020 (Ray ID: 8f2d1c0b9a7e6d5e-FRA, IP: 203.0.113.7)
  error code: 1020 (Ray ID: 1f1f1f1f2e2e2e2e-CDG, IP: 203.0.113.9)
  error code: 1020 (Ray ID: 90abcdef12345679-IAD, IP: 2001:db8::78)
  error code: 1020 (Ray ID: 5a5b5c5d5e5f6061-MUC, IP: 198.51.100.5)
  error code: 1020 (Ray ID: 0123456789abcdef-LHR, IP: 192.0.2.44)
  # Fetch Orders | - | timeout while fetching
  timeout of 30000ms exceeded
  timeout of 10000ms exceeded
  timeout of 300000ms exceeded
  timeout of 5000ms exceeded
  timeout of 1500ms exceeded
  # Push Invoice | - | timeout while pushing
  timeout of 30000ms exceeded
  timeout of 60000ms exceeded
  timeout of 1000ms exceeded
  timeout of 120000ms exceeded
  timeout of 5000ms exceeded
  # Postgres | - | Postgres: duplicate key
  duplicate key value violates unique constraint "orders_pkey"⏎Key (id)=(48213) already exists.
  duplicate key value violates unique constraint "contacts_email_key"⏎Key (email)=(jane.doe@example.com) already exists.
  duplicate key value violates unique constraint "orders_2024_05_no_uq"⏎Key (order_no)=(SO-2024-0091) already exists.
  duplicate key value violates unique constraint "events_pkey"⏎Key (id)=(0f8b2c1d-3e4f-4a5b-9c6d-7e8f9a0b1c2d) already exists.
  duplicate key value violates unique constraint "uq_slot"⏎Key (starts_at)=(2024-05-01 10:30:00+02) already exists.
  # Postgres | - | Postgres: table missing
  relation "orders_2024" does not exist
  relation "public.contacts" does not exist
  relation "staging.import_20240501" does not exist
  relation "n8n_chat_histories" does not exist
  relation "Customer Notes" does not exist
  # Postgres | - | Postgres: column missing
  column "discount_code" of relation "orders_2024" does not exist
  column "vatId" of relation "public.contacts" does not exist
  column "created at" of relation "import_20240501" does not exist
  column "embedding_1536" of relation "documents" does not exist
  column "Name" of relation "Customer Notes" does not exist
  # Postgres | - | Postgres: deadlock
  deadlock detected⏎Process 18423 waits for ShareLock on transaction 88213; blocked by process 18420.⏎Process 18420 waits for ShareLock on transaction 88214; blocked by process 18423.
  deadlock detected⏎Process 97 waits for ShareLock on transaction 1204418; blocked by process 101.⏎Process 101 waits for ShareLock on transaction 1204417; blocked by process 97.
  deadlock detected⏎Process 31002 waits for ShareLock on transaction 5; blocked by process 31001.⏎Process 31001 waits for ShareLock on transaction 6; blocked by process 31002.
  deadlock detected⏎Process 440 waits for ShareLock on transaction 70021; blocked by process 451.⏎Process 451 waits for ShareLock on transaction 70020; blocked by process 460.⏎Process 460 waits for ShareLock on transaction 70022; blocked by process 440.
  deadlock detected⏎Process 2 waits for ShareLock on transaction 900100; blocked by process 3.⏎Process 3 waits for ShareLock on transaction 900101; blocked by process 2.
  # Postgres | - | Postgres: statement timeout
  canceling statement due to statement timeout⏎CONTEXT:  while updating tuple (8812,14) in relation "orders_2024"
  canceling statement due to statement timeout⏎CONTEXT:  while updating tuple (0,3) in relation "contacts"
  canceling statement due to statement timeout⏎CONTEXT:  while updating tuple (120448,77) in relation "orders_2024"
  canceling statement due to statement timeout⏎CONTEXT:  while updating tuple (51,9) in relation "Customer Notes"
  canceling statement due to statement timeout⏎CONTEXT:  while updating tuple (7,1) in relation "import_20240501"
  # Postgres | - | Postgres: lock timeout
  canceling statement due to lock timeout⏎CONTEXT:  while updating tuple (8812,15) in relation "orders_2024"
  canceling statement due to lock timeout⏎CONTEXT:  while updating tuple (1,2) in relation "contacts"
  canceling statement due to lock timeout⏎CONTEXT:  while updating tuple (99120,4) in relation "import_20240502"
  canceling statement due to lock timeout⏎CONTEXT:  while updating tuple (18,18) in relation "Customer Notes"
  canceling statement due to lock timeout⏎CONTEXT:  while updating tuple (6,66) in relation "orders_2024"
  # Postgres | - | Postgres: no integer
  invalid input syntax for type integer: "12,5"
  invalid input syntax for type integer: "n/a"
  invalid input syntax for type integer: ""
  invalid input syntax for type integer: "4'8" tall"
  invalid input syntax for type integer: "undefined"
  # Postgres | - | Postgres: no UUID
  invalid input syntax for type uuid: "48213"
  invalid input syntax for type uuid: "0f8b2c1d-3e4f-4a5b-9c6d"
  invalid input syntax for type uuid: ""
  invalid input syntax for type uuid: "jane.doe@example.com"
  invalid input syntax for type uuid: "null"
  # Postgres | - | Postgres: apostrophe in the query
  syntax error at or near "Brien"⏎LINE 1: INSERT INTO contacts (name, age) VALUES ('O'Brien', 44)⏎                                                   ^
  syntax error at or near "s"⏎LINE 1: INSERT INTO contacts (name, age) VALUES ('Jane's Shop', 3)⏎                                                       ^
  syntax error at or near "Example"⏎LINE 1: INSERT INTO contacts (name, age) VALUES ('D'Example', 101)⏎                                                   ^
  syntax error at or near "t"⏎LINE 1: INSERT INTO contacts (name, age) VALUES ('Don't call', 29)⏎                                                      ^
  syntax error at or near "Reilly"⏎LINE 1: INSERT INTO contacts (name, age) VALUES ('O'Reilly "Jr."', 29)⏎                                                   ^
  # Supabase | - | SQLSTATE 23505
  Saving contact 8812 failed after 41 ms: SQLSTATE 23505
  Saving contact 23503 failed after 1,204 ms: SQLSTATE 23505
  Saving contact 9 failed after 3 ms: SQLSTATE 23505
  Saving contact 10441 failed after 77 ms: SQLSTATE 23505
  Saving contact 120034 failed after 512 ms: SQLSTATE 23505
  # Supabase | - | SQLSTATE 23503
  Saving contact 8813 failed after 39 ms: SQLSTATE 23503
  Saving contact 23505 failed after 208 ms: SQLSTATE 23503
  Saving contact 1 failed after 4 ms: SQLSTATE 23503
  Saving contact 70001 failed after 1,001 ms: SQLSTATE 23503
  Saving contact 400 failed after 60 ms: SQLSTATE 23503
  # MongoDB | - | MongoDB: duplicate on insert
  E11000 duplicate key error collection: shop.orders index: order_no_1 dup key: { order_no: "SO-2024-0091" }
  E11000 duplicate key error collection: crm.contacts index: email_1 dup key: { email: "jane.doe@example.com" }
  E11000 duplicate key error collection: shop.orders_2024 index: _id_ dup key: { _id: ObjectId('65f1c0ffee0123456789abcd') }
  E11000 duplicate key error collection: shop.stock index: sku_1_site_1 dup key: { sku: "A-1", site: 17 }
  E11000 duplicate key error collection: logs.runs index: run_1 dup key: { run: null }
  # MongoDB | - | MongoDB: duplicate on update
  E11001 duplicate key error collection: shop.orders index: order_no_1 dup key: { order_no: "SO-2024-0102" }
  E11001 duplicate key error collection: crm.contacts index: email_1 dup key: { email: "info@example.org" }
  E11001 duplicate key error collection: shop.orders_2024 index: _id_ dup key: { _id: ObjectId('65f1c0ffee0123456789abce') }
  E11001 duplicate key error collection: shop.stock index: sku_1_site_1 dup key: { sku: "B-22", site: 4 }
  E11001 duplicate key error collection: logs.runs index: run_1 dup key: { run: 18 }
  # Oracle | - | Oracle: table missing
  Import 20240501-0091 stopped at row 1,284: ORA-00942
  Import 20240502-0003 stopped at row 12: ORA-00942
  Import 20241130-1017 stopped at row 1,000,000: ORA-00942
  Import 20250101-0001 stopped at row 1: ORA-00942
  Import 20240731-0420 stopped at row 942: ORA-00942
  # Oracle | - | Oracle: log-on denied
  Import 20240503-0091 stopped at row 1,284: ORA-01017
  Import 20240504-0942 stopped at row 88: ORA-01017
  Import 20241201-0002 stopped at row 2,000: ORA-01017
  Import 20250102-0007 stopped at row 1017: ORA-01017
  Import 20240801-0033 stopped at row 5: ORA-01017
  # Send Email | - | mail: recipient unknown
  Can't send mail - all recipients were rejected: 550 5.1.1 <jane.doe@example.com>: Recipient address rejected: User unknown in virtual mailbox table
  Can't send mail - all recipients were rejected: 550 5.1.1 <info@example.org>: Recipient address rejected: User unknown in virtual mailbox table
  Can't send mail - all recipients were rejected: 550 5.1.1 <"jane doe"@example.net>: Recipient address rejected: User unknown in virtual mailbox table
  Can't send mail - all recipients were rejected: 550 5.1.1 <billing+2024-05@shop.example>: Recipient address rejected: User unknown in virtual mailbox table
  Can't send mail - all recipients were rejected: 550 5.1.1 <x@sub.mail.example.com>: Recipient address rejected: User unknown in virtual mailbox table
  # Send Email | 535 | mail: log-on refused
  Invalid login: 535-5.7.8 Username and Password not accepted. For more information, go to⏎535 5.7.8  https://support.google.com/mail/?p=BadCredentials a640c23a62f3a-a98f0e1d2c3sm123456.78 - gsmtp
  Invalid login: 535-5.7.8 Username and Password not accepted. For more information, go to⏎535 5.7.8  https://support.google.com/mail/?p=BadCredentials 5b1f17b1804b1-4f2a3b4c5d6sm98765.12 - gsmtp
  Invalid login: 535-5.7.8 Username and Password not accepted. For more information, go to⏎535 5.7.8  https://support.google.com/mail/?p=BadCredentials ffacd0b85a97d-3a1b2c3d4e5sm4411022.9 - gsmtp
  Invalid login: 535-5.7.8 Username and Password not accepted. For more information, go to⏎535 5.7.8  https://support.google.com/mail/?p=BadCredentials d9443c01a7336-2ab3c4d5e6fsm7.40 - gsmtp
  Invalid login: 535-5.7.8 Username and Password not accepted. For more information, go to⏎535 5.7.8  https://support.google.com/mail/?p=BadCredentials 98e67ed59e1d1-3aa0bb1cc2dsm55512.33 - gsmtp
  # AWS S3 | 404 | S3: no such key
  <Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message><Key>exports/2024/05/01/orders.csv</Key><RequestId>4442587FB7D0A2F9</RequestId><HostId>fakeHostIdAbCdEf0123456789+/fakeHostIdAbCdEf0123456789+/fake==</HostId></Error>
  <Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message><Key>invoice 8812.pdf</Key><RequestId>A1B2C3D4E5F60718</RequestId><HostId>ZmFrZWZha2VmYWtlZmFrZWZha2VmYWtlZmFrZWZha2U=</HostId></Error>
  <Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message><Key>img/7f3a9c.png</Key><RequestId>0000000000000001</RequestId><HostId>fake/Fake+fake/Fake+fake/Fake+0=</HostId></Error>
  <Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message><Key>a</Key><RequestId>TX9QFAKEFAKE7Z2K</RequestId><HostId>q1w2e3r4fakefakefakefakefake==</HostId></Error>
  <Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message><Key>backup/db-2024-05-01T02-00-00Z.dump.gz</Key><RequestId>9F9F9F9F9F9F9F9F</RequestId><HostId>ABCDfakefakeABCDfakefakeABCDfake</HostId></Error>
  # AWS S3 | 404 | S3: no such bucket
  <Error><Code>NoSuchBucket</Code><Message>The specified bucket does not exist</Message><BucketName>acme-exports</BucketName><RequestId>4442587FB7D0A2FA</RequestId><HostId>fakeHostIdAbCdEf9876543210+/fakeHostIdAbCdEf9876543210+/fake==</HostId></Error>
  <Error><Code>NoSuchBucket</Code><Message>The specified bucket does not exist</Message><BucketName>acme-backup-2024</BucketName><RequestId>B1B2C3D4E5F60719</RequestId><HostId>ZmFrZTEyMzRmYWtlMTIzNGZha2UxMjM0ZmFrZTEyMzQ=</HostId></Error>
  <Error><Code>NoSuchBucket</Code><Message>The specified bucket does not exist</Message><BucketName>img.example.com</BucketName><RequestId>0000000000000002</RequestId><HostId>fake/Fake+fake/Fake+fake/Fake+1=</HostId></Error>
  <Error><Code>NoSuchBucket</Code><Message>The specified bucket does not exist</Message><BucketName>tmp</BucketName><RequestId>TX9QFAKEFAKE7Z2L</RequestId><HostId>r4e3w2q1fakefakefakefakefake==</HostId></Error>
  <Error><Code>NoSuchBucket</Code><Message>The specified bucket does not exist</Message><BucketName>customer-8812-docs</BucketName><RequestId>8E8E8E8E8E8E8E8E</RequestId><HostId>fakefakeABCDfakefakeABCDfakeABCD</HostId></Error>
  # Google Sheets | 400 | Sheets: range cannot be read
  Unable to parse range: Leads!A1:ZZ1048
  Unable to parse range: Tabelle1!A2:F
  Unable to parse range: Customer List!A:Z
  Unable to parse range: 'Jane's sheet'!B2
  Unable to parse range: Q2 2024 (final)!A1:Z1000
  # Google Sheets | 400 | Sheets: beyond the grid
  Range ('Leads'!A1001:Z1001) exceeds grid limits. Max rows: 1000, max columns: 26
  Range (Tabelle1!AB1:AB20) exceeds grid limits. Max rows: 1000, max columns: 27
  Range ('Q2 2024 (final)'!A40211:F40211) exceeds grid limits. Max rows: 40210, max columns: 6
  Range ('Customer List'!A12:C12) exceeds grid limits. Max rows: 11, max columns: 3
  Range (Leads!G2:G999) exceeds grid limits. Max rows: 1204, max columns: 6
  # Slack | - | Slack: channel unknown
  chat.postMessage to C07ABC12DEF failed: {"ok":false,"error":"channel_not_found"}
  chat.postMessage to #sales-alerts failed: {"ok":false,"error":"channel_not_found"}
  chat.postMessage to D024BE91L failed: {"ok":false,"error":"channel_not_found"}
  chat.postMessage to @jane.doe failed: {"ok":false,"error":"channel_not_found"}
  chat.postMessage to G0FAKEFAKE9 failed: {"ok":false,"error":"channel_not_found"}
  # Slack | - | Slack: not a member
  chat.postMessage to C07ABC12DEG failed: {"ok":false,"error":"not_in_channel"}
  chat.postMessage to #orders-2024 failed: {"ok":false,"error":"not_in_channel"}
  chat.postMessage to C0QWERTYUIO failed: {"ok":false,"error":"not_in_channel"}
  chat.postMessage to C01234567AB failed: {"ok":false,"error":"not_in_channel"}
  chat.postMessage to #general failed: {"ok":false,"error":"not_in_channel"}
  # HubSpot | 400 | HubSpot: no e-mail address
  Property values were not valid: [{"isValid":false,"message":"Email address jane.doe@ is invalid","error":"INVALID_EMAIL","name":"email","localizedErrorMessage":"Email address jane.doe@ is invalid","portalId":1234567}]
  Property values were not valid: [{"isValid":false,"message":"Email address n/a is invalid","error":"INVALID_EMAIL","name":"email","localizedErrorMessage":"Email address n/a is invalid","portalId":1234567}]
  Property values were not valid: [{"isValid":false,"message":"Email address info(at)example.com is invalid","error":"INVALID_EMAIL","name":"work_email","localizedErrorMessage":"Email address info(at)example.com is invalid","portalId":98765}]
  Property values were not valid: [{"isValid":false,"message":"Email address \"Jane\" <jane@example> is invalid","error":"INVALID_EMAIL","name":"email","localizedErrorMessage":"Email address \"Jane\" <jane@example> is invalid","portalId":1234567}]
  Property values were not valid: [{"isValid":false,"message":"Email address 5550100 is invalid","error":"INVALID_EMAIL","name":"email","localizedErrorMessage":"Email address 5550100 is invalid","portalId":45001}]
  # HubSpot | 400 | HubSpot: unknown property
  Property values were not valid: [{"isValid":false,"message":"Property \"leed_status\" does not exist","error":"PROPERTY_DOESNT_EXIST","name":"leed_status","localizedErrorMessage":"Property \"leed_status\" does not exist","portalId":1234567}]
  Property values were not valid: [{"isValid":false,"message":"Property \"utm_source_2\" does not exist","error":"PROPERTY_DOESNT_EXIST","name":"utm_source_2","localizedErrorMessage":"Property \"utm_source_2\" does not exist","portalId":98765}]
  Property values were not valid: [{"isValid":false,"message":"Property \"Full Name\" does not exist","error":"PROPERTY_DOESNT_EXIST","name":"Full Name","localizedErrorMessage":"Property \"Full Name\" does not exist","portalId":1234567}]
  Property values were not valid: [{"isValid":false,"message":"Property \"x\" does not exist","error":"PROPERTY_DOESNT_EXIST","name":"x","localizedErrorMessage":"Property \"x\" does not exist","portalId":7}]
  Property values were not valid: [{"isValid":false,"message":"Property \"hs_lead_score__c\" does not exist","error":"PROPERTY_DOESNT_EXIST","name":"hs_lead_score__c","localizedErrorMessage":"Property \"hs_lead_score__c\" does not exist","portalId":45001}]
  # Airtable | 422 | Airtable: unknown field
  Unknown field name: "Stauts"
  Unknown field name: "Due Date (2024)"
  Unknown field name: "fldQwErTyUiOpAsDf"
  Unknown field name: "The "old" price"
  Unknown field name: "order/no."
  # Airtable | 422 | Airtable: new select option
  Insufficient permissions to create new select option ""Urgent""
  Insufficient permissions to create new select option ""Q3 2024""
  Insufficient permissions to create new select option ""Jane Doe""
  Insufficient permissions to create new select option """"
  Insufficient permissions to create new select option ""won't do""
  # Stripe | 402 | Stripe: card declined
  {"error":{"charge":"ch_3NfakeFakeFake01","code":"card_declined","decline_code":"generic_decline","message":"Your card was declined.","request_log_url":"https://dashboard.stripe.com/logs/req_fakeFakeFake01?t=1714559012","type":"card_error"}}
  {"error":{"charge":"ch_3OabcdefghijKLMN","code":"card_declined","decline_code":"generic_decline","message":"Your card was declined.","request_log_url":"https://dashboard.stripe.com/logs/req_abcdefghijKLMN?t=1714645412","type":"card_error"}}
  {"error":{"charge":"ch_3P00000000000001","code":"card_declined","decline_code":"generic_decline","message":"Your card was declined.","request_log_url":"https://dashboard.stripe.com/test/logs/req_00000000000001?t=1","type":"card_error"}}
  {"error":{"charge":"py_1QzZzZzZzZzZzZzZ","code":"card_declined","decline_code":"generic_decline","message":"Your card was declined.","request_log_url":"https://dashboard.stripe.com/logs/req_zZzZzZzZzZzZzZ?t=1735689600","type":"card_error"}}
  {"error":{"charge":"ch_3RfakefakefakeFA","code":"card_declined","decline_code":"generic_decline","message":"Your card was declined.","request_log_url":"https://dashboard.stripe.com/acct_1Fake/logs/req_fakefakefakeFA?t=1735","type":"card_error"}}
  # Stripe | 402 | Stripe: card expired
  {"error":{"charge":"ch_3NfakeFakeFake02","code":"expired_card","message":"Your card has expired.","param":"exp_month","request_log_url":"https://dashboard.stripe.com/logs/req_fakeFakeFake02?t=1714559013","type":"card_error"}}
  {"error":{"charge":"ch_3OnmlkjihgfeDCBA","code":"expired_card","message":"Your card has expired.","param":"exp_month","request_log_url":"https://dashboard.stripe.com/logs/req_nmlkjihgfeDCBA?t=1714645413","type":"card_error"}}
  {"error":{"charge":"ch_3P00000000000002","code":"expired_card","message":"Your card has expired.","param":"exp_month","request_log_url":"https://dashboard.stripe.com/test/logs/req_00000000000002?t=2","type":"card_error"}}
  {"error":{"charge":"py_1QyYyYyYyYyYyYyY","code":"expired_card","message":"Your card has expired.","param":"exp_month","request_log_url":"https://dashboard.stripe.com/logs/req_yYyYyYyYyYyYyY?t=1735689601","type":"card_error"}}
  {"error":{"charge":"ch_3RekafekafekaFEK","code":"expired_card","message":"Your card has expired.","param":"exp_month","request_log_url":"https://dashboard.stripe.com/acct_1Fake/logs/req_ekafekafekaFEK?t=1736","type":"card_error"}}
  # Stripe | 400 | Stripe: no such customer
  No such customer: 'cus_NffrFeUfakeFAKE'
  No such customer: 'cus_9s6XKzkNRiz8i3'
  No such customer: 'jane.doe@example.com'
  No such customer: ''
  No such customer: 'cus_QwErTyUiOpAsDf'
  # Stripe | 400 | Stripe: no such price
  No such price: 'price_1MoBy5LkdIfakeFAKE'
  No such price: 'plan_basic-2024'
  No such price: 'price_abcdefghijkl'
  No such price: '12.50'
  No such price: 'gold'
`
