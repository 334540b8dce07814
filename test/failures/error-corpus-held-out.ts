// Errors that nobody tuned the fingerprint against: other services, all called from one node, so that only the text,
// and what is read from it, tells them apart. Do not look at their results while changing the fingerprint.
import { errorsIn } from './error-corpus-variants.ts'

export const HELD_OUT_ERRORS = errorsIn`
  # Call Service | 400 | Twilio: no phone number
  [HTTP 400] Unable to create record: The 'To' number +15005550001 is not a valid phone number. (Twilio error 21211, https://www.twilio.com/docs/errors/21211)
  [HTTP 400] Unable to create record: The 'To' number 020 7946 0018 is not a valid phone number. (Twilio error 21211, https://www.twilio.com/docs/errors/21211)
  [HTTP 400] Unable to create record: The 'To' number whatsapp:+4915550100 is not a valid phone number. (Twilio error 21211, https://www.twilio.com/docs/errors/21211)
  [HTTP 400] Unable to create record: The 'To' number (555) 555-0100 ext. 4 is not a valid phone number. (Twilio error 21211, https://www.twilio.com/docs/errors/21211)
  [HTTP 400] Unable to create record: The 'To' number 0 is not a valid phone number. (Twilio error 21211, https://www.twilio.com/docs/errors/21211)
  # Call Service | 400 | Twilio: phone number that cannot get SMS
  [HTTP 400] Unable to create record: The 'To' number +15005550009 is not a valid mobile number. (Twilio error 21614, https://www.twilio.com/docs/errors/21614)
  [HTTP 400] Unable to create record: The 'To' number +442079460018 is not a valid mobile number. (Twilio error 21614, https://www.twilio.com/docs/errors/21614)
  [HTTP 400] Unable to create record: The 'To' number +49 30 5550100 is not a valid mobile number. (Twilio error 21614, https://www.twilio.com/docs/errors/21614)
  [HTTP 400] Unable to create record: The 'To' number +1-555-555-0142 is not a valid mobile number. (Twilio error 21614, https://www.twilio.com/docs/errors/21614)
  [HTTP 400] Unable to create record: The 'To' number 15555550199 is not a valid mobile number. (Twilio error 21614, https://www.twilio.com/docs/errors/21614)
  # Call Service | 429 | Groq: tokens per day used up
  Rate limit reached for model \`llama-3.3-70b-versatile\` in organization \`org_01jfake0fake0fake0fake0fake\` service tier \`on_demand\` on tokens per day (TPD): Limit 100000, Used 99336, Requested 1532. Please try again in 12m30.4s. Need more tokens? Visit https://console.groq.com/settings/billing
  Rate limit reached for model \`mixtral-8x7b-32768\` in organization \`org_01jabcdefghijklmnopqrstuvw\` service tier \`on_demand\` on tokens per day (TPD): Limit 500,000, Used 499,900, Requested 2,204. Please try again in 6m3.28s. Need more tokens? Visit https://console.groq.com/settings/billing
  Rate limit reached for model \`openai/gpt-oss-120b\` in organization \`org_01jfake0fake0fake0fake0fake\` service tier \`flex\` on tokens per day (TPD): Limit 200000, Used 200000, Requested 88. Please try again in 38.016s. Need more tokens? Visit https://console.groq.com/settings/billing
  Rate limit reached for model \`gemma2-9b-it\` in organization \`org_01k000000000000000000000000\` service tier \`on_demand\` on tokens per day (TPD): Limit 500000, Used 500000, Requested 1. Please try again in 172ms. Need more tokens? Visit https://console.groq.com/settings/billing
  Rate limit reached for model \`mistral-saba-latest\` in organization \`org_01jzyxwvutsrqponmlkjihgfed\` service tier \`on_demand\` on tokens per day (TPD): Limit 100000, Used 91004, Requested 41900. Please try again in 1h14m2s. Need more tokens? Visit https://console.groq.com/settings/billing
  # Call Service | 429 | Groq: requests per day used up
  Rate limit reached for model \`llama-3.3-70b-versatile\` in organization \`org_01jfake0fake0fake0fake0fake\` service tier \`on_demand\` on requests per day (RPD): Limit 1000, Used 1000, Requested 1. Please try again in 1m26.4s. Need more tokens? Visit https://console.groq.com/settings/billing
  Rate limit reached for model \`gemma2-9b-it\` in organization \`org_01jabcdefghijklmnopqrstuvw\` service tier \`on_demand\` on requests per day (RPD): Limit 14,400, Used 14,400, Requested 1. Please try again in 6s. Need more tokens? Visit https://console.groq.com/settings/billing
  Rate limit reached for model \`qwen-qwq-32b\` in organization \`org_01k000000000000000000000000\` service tier \`on_demand\` on requests per day (RPD): Limit 1000, Used 1000, Requested 1. Please try again in 512.5ms. Need more tokens? Visit https://console.groq.com/settings/billing
  Rate limit reached for model \`whisper-large-v3-turbo\` in organization \`org_01jfake0fake0fake0fake0fake\` service tier \`flex\` on requests per day (RPD): Limit 2000, Used 2000, Requested 1. Please try again in 43.2s. Need more tokens? Visit https://console.groq.com/settings/billing
  Rate limit reached for model \`mistral-saba-latest\` in organization \`org_01jzyxwvutsrqponmlkjihgfed\` service tier \`on_demand\` on requests per day (RPD): Limit 1000, Used 1000, Requested 1. Please try again in 2h0m1s. Need more tokens? Visit https://console.groq.com/settings/billing
  # Call Service | 400 | Salesforce: record locked
  UNABLE_TO_LOCK_ROW: unable to obtain exclusive access to this record or 1 records: 001fakeFAKE00001AAA
  UNABLE_TO_LOCK_ROW: unable to obtain exclusive access to this record or 2 records: a0y1Q00000Fake1QAZ,a0y1Q00000Fake2QAB
  UNABLE_TO_LOCK_ROW: unable to obtain exclusive access to this record or 1 records: 003QwErTyUiOpAsDfG
  UNABLE_TO_LOCK_ROW: unable to obtain exclusive access to this record or 4 records: 0018d00000Fake1AAC,0018d00000Fake2AAC,0018d00000Fake3AAC,0018d00000Fake4AAC
  UNABLE_TO_LOCK_ROW: unable to obtain exclusive access to this record or 10 records: 500fake0000000aAAA
  # Call Service | 400 | Salesforce: no such column
  INVALID_FIELD: ⏎SELECT Id, Region__c FROM Lead⏎           ^⏎ERROR at Row:1:Column:12⏎No such column 'Region__c' on entity 'Lead'. If you are attempting to use a custom field, be sure to append the '__c' after the custom field name.
  INVALID_FIELD: ⏎Name, Tax_No__c FROM Account WHERE⏎      ^⏎ERROR at Row:1:Column:18⏎No such column 'Tax_No__c' on entity 'Account'. If you are attempting to use a custom field, be sure to append the '__c' after the custom field name.
  INVALID_FIELD: ⏎SELECT Id,Amount2 FROM Opportunity LIMIT 200⏎          ^⏎ERROR at Row:1:Column:11⏎No such column 'Amount2' on entity 'Opportunity'. If you are attempting to use a custom field, be sure to append the '__c' after the custom field name.
  INVALID_FIELD: ⏎FROM Contact WHERE Mail = 'jane.doe@example.com'⏎                   ^⏎ERROR at Row:3:Column:20⏎No such column 'Mail' on entity 'Contact'. If you are attempting to use a custom field, be sure to append the '__c' after the custom field name.
  INVALID_FIELD: ⏎ORDER BY created_at DESC⏎         ^⏎ERROR at Row:12:Column:10⏎No such column 'created_at' on entity 'Case'. If you are attempting to use a custom field, be sure to append the '__c' after the custom field name.
  # Call Service | 404 | Notion: page missing
  {"object":"error","status":404,"code":"object_not_found","message":"Could not find page with ID: 249d19fb-3530-4fca-8a7b-edbe8fde08f4. Make sure the relevant pages and databases are shared with your integration.","request_id":"5f1c0ffe-e012-4345-8789-abcdef012345"}
  {"object":"error","status":404,"code":"object_not_found","message":"Could not find page with ID: 00000000-0000-4000-8000-00000000000c. Make sure the relevant pages and databases are shared with your integration.","request_id":"a0a0a0a0-b1b1-4c2c-8d3d-e4e4e4e4e4e4"}
  {"object":"error","status":404,"code":"object_not_found","message":"Could not find page with ID: abcdefab-cdef-4abc-8def-abcdefabcdef. Make sure the relevant pages and databases are shared with your integration.","request_id":"9e8d7c6b-5a49-4382-9716-05e4d3c2b1a0"}
  {"object":"error","status":404,"code":"object_not_found","message":"Could not find page with ID: 6c79d10bf60241df8cfaf23742d30a2a. Make sure the relevant pages and databases are shared with your integration.","request_id":"11111111-2222-4333-8444-555555555555"}
  {"object":"error","status":404,"code":"object_not_found","message":"Could not find page with ID: 13579bdf-0246-48ac-8ace-13579bdf0246. Make sure the relevant pages and databases are shared with your integration.","request_id":"fedcba98-7654-4321-8fed-cba987654321"}
  # Call Service | 400 | Notion: no date
  body failed validation: body.properties.Due.date.start should be a valid ISO 8601 date string, instead was \`"31.02.2024"\`.
  body failed validation: body.properties.Due.date.start should be a valid ISO 8601 date string, instead was \`"next \"big\" Monday"\`.
  body failed validation: body.properties.Due.date.start should be a valid ISO 8601 date string, instead was \`""\`.
  body failed validation: body.properties.Due.date.start should be a valid ISO 8601 date string, instead was \`"05/01/2024 10:30 PM"\`.
  body failed validation: body.properties.Due.date.start should be a valid ISO 8601 date string, instead was \`"1714559012"\`.
  # Call Service | 403 | GitHub: primary rate limit
  API rate limit exceeded for user ID 1234567. If you reach out to GitHub Support for help, please include the request ID C8F2:3E5A1B:1B2C3D4:4E5F6A7:65A1B2C3 and timestamp 2024-05-01 10:22:31 UTC.
  API rate limit exceeded for user ID 42. If you reach out to GitHub Support for help, please include the request ID 0A1B:2C3D4E:5F60718:293A4B5:66AABBCC and timestamp 2024-07-31 23:59:01 UTC.
  API rate limit exceeded for user ID 90210044. If you reach out to GitHub Support for help, please include the request ID FFFF:EEEEEE:DDDDDDD:CCCCCCC:BBBBBBBB and timestamp 2025-01-01 00:00:00 UTC.
  API rate limit exceeded for user ID 777. If you reach out to GitHub Support for help, please include the request ID 1111:222222:3333333:4444444:55555555 and timestamp 2025-02-28 12:12:12 UTC.
  API rate limit exceeded for user ID 8812. If you reach out to GitHub Support for help, please include the request ID D00D:C0FFEE:FACE123:BEEF456:DEADBEEF and timestamp 2026-03-09 07:45:33 UTC.
  # Call Service | 403 | GitHub: secondary rate limit
  You have exceeded a secondary rate limit. Please wait a few minutes before you try again. If you reach out to GitHub Support for help, please include the request ID C8F2:3E5A1B:1B2C3D4:4E5F6A7:65A1B2C4 and timestamp 2024-05-01 10:22:32 UTC.
  You have exceeded a secondary rate limit. Please wait a few minutes before you try again. If you reach out to GitHub Support for help, please include the request ID AB12:CD34EF:56AB78C:D90EF12:34AB56CD and timestamp 2024-06-18 05:00:59 UTC.
  You have exceeded a secondary rate limit. Please wait a few minutes before you try again. If you reach out to GitHub Support for help, please include the request ID 9999:888888:7777777:6666666:55555554 and timestamp 2025-12-31 23:59:59 UTC.
  You have exceeded a secondary rate limit. Please wait a few minutes before you try again. If you reach out to GitHub Support for help, please include the request ID CAFE:BABE00:ABCDEF0:FEDCBA9:0BADF00D and timestamp 2025-03-03 03:03:03 UTC.
  You have exceeded a secondary rate limit. Please wait a few minutes before you try again. If you reach out to GitHub Support for help, please include the request ID 8C41:1A2B3:4C5D6E:7F8091:66000000 and timestamp 2026-01-20 16:20:00 UTC.
  # Call Service | 403 | Microsoft Graph: access denied
  {"error":{"code":"ErrorAccessDenied","message":"Access is denied. Check credentials and try again.","innerError":{"date":"2024-05-01T10:22:31","request-id":"b1ee8318-ea35-4a42-8602-bef6d14f167b","client-request-id":"76aac631-5e1e-4a4d-8109-c4d79c51eeb2"}}}
  {"error":{"code":"ErrorAccessDenied","message":"Access is denied. Check credentials and try again.","innerError":{"date":"2024-12-24T00:00:00","request-id":"00000000-0000-4000-8000-00000000000d","client-request-id":"00000000-0000-4000-8000-00000000000d"}}}
  {"error":{"code":"ErrorAccessDenied","message":"Access is denied. Check credentials and try again.","innerError":{"date":"2025-01-15T09:01:44","request-id":"abcdefab-cdef-4abc-8def-abcdefabcdee","client-request-id":"facefeed-d00d-4fee-8bee-dead00c0ffed"}}}
  {"error":{"code":"ErrorAccessDenied","message":"Access is denied. Check credentials and try again.","innerError":{"date":"2025-07-04T17:30:12","request-id":"7e7d6c5b-4a39-4828-9716-05f4e3d2c1b1","client-request-id":"1a2b3c4d-5e6f-4071-8293-a4b5c6d7e8fa"}}}
  {"error":{"code":"ErrorAccessDenied","message":"Access is denied. Check credentials and try again.","innerError":{"date":"2026-02-02T02:02:02","request-id":"9f8e7d6c-5b4a-4392-8170-6f5e4d3c2b1b","client-request-id":"c0ffee00-dead-4bee-8fee-d00dfeedfacd"}}}
  # Call Service | 404 | Microsoft Graph: item missing
  {"error":{"code":"ErrorItemNotFound","message":"The specified object was not found in the store., The process failed to get the correct properties.","innerError":{"date":"2024-05-01T10:22:33","request-id":"b1ee8318-ea35-4a42-8602-bef6d14f167c","client-request-id":"76aac631-5e1e-4a4d-8109-c4d79c51eeb3"}}}
  {"error":{"code":"ErrorItemNotFound","message":"The specified object was not found in the store., The process failed to get the correct properties.","innerError":{"date":"2024-12-25T01:00:00","request-id":"00000000-0000-4000-8000-00000000000e","client-request-id":"00000000-0000-4000-8000-00000000000f"}}}
  {"error":{"code":"ErrorItemNotFound","message":"The specified object was not found in the store., The process failed to get the correct properties.","innerError":{"date":"2025-01-16T09:01:44","request-id":"abcdefab-cdef-4abc-8def-abcdefabcdfe","client-request-id":"facefeed-d00d-4fee-8bee-dead00c0ffec"}}}
  {"error":{"code":"ErrorItemNotFound","message":"The specified object was not found in the store., The process failed to get the correct properties.","innerError":{"date":"2025-08-08T08:08:08","request-id":"7e7d6c5b-4a39-4828-9716-05f4e3d2c1b2","client-request-id":"1a2b3c4d-5e6f-4071-8293-a4b5c6d7e8fb"}}}
  {"error":{"code":"ErrorItemNotFound","message":"The specified object was not found in the store., The process failed to get the correct properties.","innerError":{"date":"2026-04-01T12:00:00","request-id":"9f8e7d6c-5b4a-4392-8170-6f5e4d3c2b1c","client-request-id":"c0ffee00-dead-4bee-8fee-d00dfeedfacc"}}}
  # Call Service | 400 | Qdrant: wrong vector size
  Wrong input: Vector dimension error: expected dim: 768, got 1024
  Wrong input: Vector dimension error: expected dim: 1536, got 3072
  Wrong input: Vector dimension error: expected dim: 3072, got 1536
  Wrong input: Vector dimension error: expected dim: 384, got 0
  Wrong input: Vector dimension error: expected dim: 4096, got 1
  # Call Service | 404 | Ollama: model not pulled
  model "llama3.1:8b" not found, try pulling it first
  model "mistral-nemo" not found, try pulling it first
  model "qwen2.5-coder:32b-instruct-q4_K_M" not found, try pulling it first
  model "nomic-embed-text:latest" not found, try pulling it first
  model "hf.co/example/Model-7B-GGUF:Q8_0" not found, try pulling it first
  # Call Service | 500 | Ollama: too little memory
  model requires more system memory (5.6 GiB) than is available (3.1 GiB)
  model requires more system memory (48.0 GiB) than is available (15.4 GiB)
  model requires more system memory (7.9 GiB) than is available (812.4 MiB)
  model requires more system memory (1.2 TiB) than is available (62.8 GiB)
  model requires more system memory (6 GiB) than is available (5.9 GiB)
  # Call Service | - | Python: key missing
  Traceback (most recent call last):⏎  File "/app/jobs/sync_orders.py", line 112, in <module>⏎    main()⏎  File "/app/jobs/sync_orders.py", line 88, in main⏎    total += row["net"]⏎KeyError: 'net'
  Traceback (most recent call last):⏎  File "/app/jobs/sync_orders.py", line 114, in <module>⏎    main()⏎  File "/app/jobs/sync_orders.py", line 90, in main⏎    total += row["net"]⏎KeyError: 'net'
  Traceback (most recent call last):⏎  File "C:\jobs\sync_orders.py", line 112, in <module>⏎    main()⏎  File "C:\jobs\sync_orders.py", line 88, in main⏎    total += row["net"]⏎KeyError: 'net'
  Traceback (most recent call last):⏎  File "/tmp/pip-7f3a9c/sync_orders.py", line 9, in <module>⏎    main()⏎  File "/tmp/pip-7f3a9c/sync_orders.py", line 7, in main⏎    total += row["net"]⏎KeyError: 'net'
  Traceback (most recent call last):⏎  File "/home/jane/sync_orders.py", line 1120, in <module>⏎    main()⏎  File "/home/jane/sync_orders.py", line 1088, in main⏎    total += row["gross"]⏎KeyError: 'gross'
  # Call Service | - | Python: no number
  Traceback (most recent call last):⏎  File "/app/jobs/sync_orders.py", line 112, in <module>⏎    main()⏎  File "/app/jobs/sync_orders.py", line 88, in main⏎    total += float(row["net"])⏎ValueError: could not convert string to float: '12,50'
  Traceback (most recent call last):⏎  File "/app/jobs/sync_orders.py", line 115, in <module>⏎    main()⏎  File "/app/jobs/sync_orders.py", line 91, in main⏎    total += float(row["net"])⏎ValueError: could not convert string to float: 'n/a'
  Traceback (most recent call last):⏎  File "C:\jobs\sync_orders.py", line 112, in <module>⏎    main()⏎  File "C:\jobs\sync_orders.py", line 88, in main⏎    total += float(row["net"])⏎ValueError: could not convert string to float: ''
  Traceback (most recent call last):⏎  File "/tmp/pip-1b9d42/sync_orders.py", line 9, in <module>⏎    main()⏎  File "/tmp/pip-1b9d42/sync_orders.py", line 7, in main⏎    total += float(row["net"])⏎ValueError: could not convert string to float: "it's free"
  Traceback (most recent call last):⏎  File "/home/jane/sync_orders.py", line 1121, in <module>⏎    main()⏎  File "/home/jane/sync_orders.py", line 1089, in main⏎    total += float(row["net"])⏎ValueError: could not convert string to float: '1.204,50 EUR'
  # Call Service | - | MySQL: duplicate entry
  ER_DUP_ENTRY: Duplicate entry 'jane.doe@example.com' for key 'contacts.email_unique'
  ER_DUP_ENTRY: Duplicate entry '48213' for key 'PRIMARY'
  ER_DUP_ENTRY: Duplicate entry '2024-05-01-17' for key 'slots.day_room'
  ER_DUP_ENTRY: Duplicate entry 'O'Brien-44' for key 'people.name_age'
  ER_DUP_ENTRY: Duplicate entry '' for key 'orders.external_ref'
  # Call Service | - | MySQL: no such table
  ER_NO_SUCH_TABLE: Table 'shop.orders_2024' doesn't exist
  ER_NO_SUCH_TABLE: Table 'crm.contacts' doesn't exist
  ER_NO_SUCH_TABLE: Table 'n8n.chat-histories' doesn't exist
  ER_NO_SUCH_TABLE: Table 'tmp.import_20240501' doesn't exist
  ER_NO_SUCH_TABLE: Table 'shop_8812.Customer Notes' doesn't exist
  # Call Service | 429 | Elasticsearch: circuit breaker
  [parent] Data too large, data for [<http_request>] would be [1021931520/974.5mb], which is larger than the limit of [986061209/940.3mb], real usage: [1021931000/974.5mb], new bytes reserved: [520/520b], usages [request=0/0b, fielddata=1204/1.1kb, in_flight_requests=520/520b]
  [parent] Data too large, data for [indices:data/write/bulk[s]] would be [4080218931/3.7gb], which is larger than the limit of [4080218930/3.7gb], real usage: [4080001000/3.7gb], new bytes reserved: [217931/212.8kb], usages [request=16440/16kb, fielddata=0/0b, in_flight_requests=217931/212.8kb]
  [parent] Data too large, data for [<http_request>] would be [511000000/487.3mb], which is larger than the limit of [510027366/486.3mb], real usage: [511000000/487.3mb], new bytes reserved: [0/0b], usages [request=0/0b, fielddata=88/88b, in_flight_requests=0/0b]
  [parent] Data too large, data for [<transport_request>] would be [2040109466/1.8gb], which is larger than the limit of [2040109465/1.8gb], real usage: [2040100000/1.8gb], new bytes reserved: [9466/9.2kb], usages [request=0/0b, fielddata=0/0b, in_flight_requests=9466/9.2kb]
  [parent] Data too large, data for [<http_request>] would be [255100210/243.2mb], which is larger than the limit of [255013683/243.2mb], real usage: [255000000/243.1mb], new bytes reserved: [100210/97.8kb], usages [request=100/100b, fielddata=4/4b, in_flight_requests=100210/97.8kb]
`
