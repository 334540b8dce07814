// What should be one failure pattern and what should not: errors of models, agents, code, files, queues and expressions.
import { errorsIn, SERVICE_ERRORS, type CorpusError } from './error-corpus-variants.ts'

const MODEL_ERRORS = errorsIn`
  # OpenAI Chat Model | 429 | OpenAI: tokens per minute used up
  429 Rate limit reached for gpt-4o in organization org-Qw3rTyUiOpAsDfGhJkLzXcVb on tokens per min (TPM): Limit 30000, Used 29937, Requested 385. Please try again in 644ms. Visit https://platform.openai.com/account/rate-limits to learn more.
  429 Rate limit reached for gpt-4o-mini-2024-07-18 in organization org-Qw3rTyUiOpAsDfGhJkLzXcVb on tokens per min (TPM): Limit 200000, Used 189112, Requested 21532. Please try again in 3.193s. Visit https://platform.openai.com/account/rate-limits to learn more.
  429 Rate limit reached for o3-mini in organization org-aBcDeFgHiJkLmNoPqRsTuVwX on tokens per min (TPM): Limit 100,000, Used 89,112, Requested 11,532. Please try again in 1m12.5s. Visit https://platform.openai.com/account/rate-limits to learn more.
  429 Rate limit reached for gpt-4.1 in organization org-01Jc8Xy2KfakeFakeFake99 on tokens per min (TPM): Limit 30000, Used 18928, Requested 11159. Please try again in 174ms. Visit https://platform.openai.com/account/rate-limits to learn more.
  429 Rate limit reached for chatgpt-4o-latest in organization org-zzTopFakeOrgIdFakeOrgId1 on tokens per min (TPM): Limit 30000, Used 14567, Requested 24754. Please try again in 18.642s. Visit https://platform.openai.com/account/rate-limits to learn more.
  429 Rate limit reached for gpt-4o in organization org-Qw3rTyUiOpAsDfGhJkLzXcVb on tokens per min (TPM): Limit 30000, Used 30000, Requested 4. Please try again in 8ms. Visit https://platform.openai.com/account/rate-limits to learn more.
  # OpenAI Chat Model | 429 | OpenAI: requests per minute used up
  429 Rate limit reached for gpt-4o in organization org-Qw3rTyUiOpAsDfGhJkLzXcVb on requests per min (RPM): Limit 500, Used 500, Requested 1. Please try again in 120ms. Visit https://platform.openai.com/account/rate-limits to learn more.
  429 Rate limit reached for gpt-4o-mini in organization org-aBcDeFgHiJkLmNoPqRsTuVwX on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s. Visit https://platform.openai.com/account/rate-limits to learn more.
  429 Rate limit reached for o1-preview-2024-09-12 in organization org-Qw3rTyUiOpAsDfGhJkLzXcVb on requests per min (RPM): Limit 20, Used 20, Requested 1. Please try again in 3s. Visit https://platform.openai.com/account/rate-limits to learn more.
  429 Rate limit reached for gpt-4.1-nano in organization org-01Jc8Xy2KfakeFakeFake99 on requests per min (RPM): Limit 10,000, Used 10,000, Requested 1. Please try again in 6ms. Visit https://platform.openai.com/account/rate-limits to learn more.
  429 Rate limit reached for gpt-4-turbo in organization org-Qw3rTyUiOpAsDfGhJkLzXcVb on requests per min (RPM): Limit 500, Used 500, Requested 1. Please try again in 1m0s. Visit https://platform.openai.com/account/rate-limits to learn more.
  # OpenAI Chat Model | 429 | OpenAI: one request larger than the limit
  429 Request too large for gpt-4o in organization org-Qw3rTyUiOpAsDfGhJkLzXcVb on tokens per min (TPM): Limit 30000, Requested 31538. The input or output tokens must be reduced in order to run successfully. Visit https://platform.openai.com/account/rate-limits to learn more.
  429 Request too large for gpt-4.1-2025-04-14 in organization org-aBcDeFgHiJkLmNoPqRsTuVwX on tokens per min (TPM): Limit 30,000, Requested 342,389. The input or output tokens must be reduced in order to run successfully. Visit https://platform.openai.com/account/rate-limits to learn more.
  429 Request too large for o4-mini in organization org-01Jc8Xy2KfakeFakeFake99 on tokens per min (TPM): Limit 200000, Requested 204118. The input or output tokens must be reduced in order to run successfully. Visit https://platform.openai.com/account/rate-limits to learn more.
  429 Request too large for gpt-4o in organization org-Qw3rTyUiOpAsDfGhJkLzXcVb on tokens per min (TPM): Limit 30000, Requested 1000441. The input or output tokens must be reduced in order to run successfully. Visit https://platform.openai.com/account/rate-limits to learn more.
  429 Request too large for gpt-4-0613 in organization org-zzTopFakeOrgIdFakeOrgId1 on tokens per min (TPM): Limit 10000, Requested 11002. The input or output tokens must be reduced in order to run successfully. Visit https://platform.openai.com/account/rate-limits to learn more.
  # OpenAI Chat Model | 429 | OpenAI behind LiteLLM: no credit left
  litellm.RateLimitError: RateLimitError: OpenAIException - You exceeded your current quota, please check your plan and billing details. Received Model Group=gpt-4o⏎Available Model Group Fallbacks=None LiteLLM Retried: 2 times, LiteLLM Max Retries: 3
  litellm.RateLimitError: RateLimitError: OpenAIException - You exceeded your current quota, please check your plan and billing details. Received Model Group=gpt-4o-mini⏎Available Model Group Fallbacks=None LiteLLM Retried: 3 times, LiteLLM Max Retries: 3
  litellm.RateLimitError: RateLimitError: OpenAIException - You exceeded your current quota, please check your plan and billing details. Received Model Group=o3-mini⏎Available Model Group Fallbacks=['gpt-4o-mini'] LiteLLM Retried: 1 times, LiteLLM Max Retries: 2
  litellm.RateLimitError: RateLimitError: OpenAIException - You exceeded your current quota, please check your plan and billing details. Received Model Group=gpt-4.1⏎Available Model Group Fallbacks=['gpt-4o-mini', 'claude-3-5-haiku-latest'] LiteLLM Retried: 2 times, LiteLLM Max Retries: 3
  litellm.RateLimitError: RateLimitError: OpenAIException - You exceeded your current quota, please check your plan and billing details. Received Model Group=gpt-4o-2024-11-20⏎Available Model Group Fallbacks=None LiteLLM Retried: 10 times, LiteLLM Max Retries: 10
  # OpenAI Chat Model | 400 | OpenAI: context length
  400 This model's maximum context length is 128000 tokens. However, your messages resulted in 131204 tokens (130900 in the messages, 304 in the functions). Please reduce the length of the messages or functions.
  400 This model's maximum context length is 16385 tokens. However, your messages resulted in 18872 tokens (18,011 in the messages, 861 in the functions). Please reduce the length of the messages or functions.
  400 This model's maximum context length is 8192 tokens. However, your messages resulted in 8,199 tokens (8,100 in the messages, 99 in the functions). Please reduce the length of the messages or functions.
  400 This model's maximum context length is 1047576 tokens. However, your messages resulted in 1204411 tokens (1204001 in the messages, 410 in the functions). Please reduce the length of the messages or functions.
  400 This model's maximum context length is 200000 tokens. However, your messages resulted in 200001 tokens (199990 in the messages, 11 in the functions). Please reduce the length of the messages or functions.
  # OpenAI Chat Model | 401 | OpenAI: wrong key
  401 Incorrect API key provided: sk-proj-**********************************************************abcd. You can find your API key at https://platform.openai.com/account/api-keys.
  401 Incorrect API key provided: sk-proj-*******************************************************7f3A. You can find your API key at https://platform.openai.com/account/api-keys.
  401 Incorrect API key provided: fake-key*****ting. You can find your API key at https://platform.openai.com/account/api-keys.
  401 Incorrect API key provided: sk-[masked]. You can find your API key at https://platform.openai.com/account/api-keys.
  401 Incorrect API key provided: sk-svcac***********************************0_zQ. You can find your API key at https://platform.openai.com/account/api-keys.
  # OpenAI Chat Model | 404 | OpenAI: unknown model
  404 The model \`gpt-5-turbo-preview\` does not exist or you do not have access to it.⏎⏎Troubleshooting URL: https://js.langchain.com/docs/troubleshooting/errors/MODEL_NOT_FOUND/⏎
  404 The model \`gpt-4o-2024-13-01\` does not exist or you do not have access to it.⏎⏎Troubleshooting URL: https://js.langchain.com/docs/troubleshooting/errors/MODEL_NOT_FOUND/⏎
  404 The model \`o3-mini\` does not exist or you do not have access to it.⏎⏎Troubleshooting URL: https://js.langchain.com/docs/troubleshooting/errors/MODEL_NOT_FOUND/⏎
  404 The model \`claude-sonnet-4-20250514\` does not exist or you do not have access to it.⏎⏎Troubleshooting URL: https://js.langchain.com/docs/troubleshooting/errors/MODEL_NOT_FOUND/⏎
  404 The model \`ft:gpt-4o-mini-2024-07-18:example:support:9xFake00\` does not exist or you do not have access to it.⏎⏎Troubleshooting URL: https://js.langchain.com/docs/troubleshooting/errors/MODEL_NOT_FOUND/⏎
  # OpenAI Chat Model | 400 | OpenAI: tool schema without items
  400 Invalid schema for function 'lookup_order': In context=('properties', 'lines'), array schema missing items.
  400 Invalid schema for function 'create_ticket_v2': In context=('properties', 'tags'), array schema missing items.
  400 Invalid schema for function 'search': In context=('properties', 'filter', 'properties', 'ids'), array schema missing items.
  400 Invalid schema for function 'Send_Mail': In context=('properties', 'to'), array schema missing items.
  400 Invalid schema for function 'crm-update-8812': In context=('properties', 'deal', 'properties', 'notes', 'items'), array schema missing items.
  # OpenAI Chat Model | 400 | OpenAI: a message too long
  400 Invalid 'messages[3].content': string too long. Expected a string with maximum length 1048576, but got a string with length 1311042 instead.
  400 Invalid 'messages[1].content': string too long. Expected a string with maximum length 1048576, but got a string with length 1048577 instead.
  400 Invalid 'messages[12].content': string too long. Expected a string with maximum length 1,048,576, but got a string with length 4,200,118 instead.
  400 Invalid 'input[0].content[2].text': string too long. Expected a string with maximum length 10485760, but got a string with length 11800001 instead.
  400 Invalid 'messages[0].content': string too long. Expected a string with maximum length 256000, but got a string with length 391882 instead.
  # OpenAI Chat Model | 400 | OpenAI: too many tools
  400 Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 141 instead.
  400 Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 129 instead.
  400 Invalid 'tools': array too long. Expected an array with maximum length 64, but got an array with length 88 instead.
  400 Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 1,204 instead.
  400 Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 200 instead.
  # OpenAI Chat Model | 400 | OpenAI: tool calls left without an answer
  400 An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_jXk2Qm9vTfakeFakeFakeFa0
  400 An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_aaBBccDDeeFFggHHiiJJkkLL, call_8vT76kQ8fakeFakeFake1234
  400 An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_QwErTyUiOpAsDfGhJkLzXcVb
  400 An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_0000fakeFakeFake0001, call_0000fakeFakeFake0002, call_0000fakeFakeFake0003, call_0000fakeFakeFake0004
  400 An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: chatcmpl-tool-5c1f2f0e9a7b4d3c8e6f1a2b3c4d5e6f
  # OpenAI Chat Model | 500 | OpenAI: error of the server
  500 The server had an error while processing your request. Sorry about that! You can retry your request, or contact us through our help center at help.openai.com if the error persists. (Please include the request ID req_5a5e0d1c2b3a49788695a4b3c2d1e0ff in your message.)
  500 The server had an error while processing your request. Sorry about that! You can retry your request, or contact us through our help center at help.openai.com if the error persists. (Please include the request ID req_a9b8c7d6e5f40312233445566778899a in your message.)
  500 The server had an error while processing your request. Sorry about that! You can retry your request, or contact us through our help center at help.openai.com if the error persists. (Please include the request ID 0c1d2e3f-4a5b-4c6d-8e7f-901a2b3c4d5e in your message.)
  500 The server had an error while processing your request. Sorry about that! You can retry your request, or contact us through our help center at help.openai.com if the error persists. (Please include the request ID req_ffffffffffffffffffffffffffffffff in your message.)
  500 The server had an error while processing your request. Sorry about that! You can retry your request, or contact us through our help center at help.openai.com if the error persists. (Please include the request ID req_deadbeefcafedeadbeefcafedeadbeef in your message.)
  # OpenAI Chat Model | 503 | OpenAI: overloaded
  503 That model is currently overloaded with other requests. You can retry your request, or contact us through our help center at help.openai.com if the error persists. (Please include the request ID req_5a5e0d1c2b3a49788695a4b3c2d1e0aa in your message.)
  503 That model is currently overloaded with other requests. You can retry your request, or contact us through our help center at help.openai.com if the error persists. (Please include the request ID req_1b2c3d4e5f60718293a4b5c6d7e8f901 in your message.)
  503 That model is currently overloaded with other requests. You can retry your request, or contact us through our help center at help.openai.com if the error persists. (Please include the request ID 7e7d6c5b-4a39-4828-9716-05f4e3d2c1b0 in your message.)
  503 That model is currently overloaded with other requests. You can retry your request, or contact us through our help center at help.openai.com if the error persists. (Please include the request ID req_abcdefabcdefabcdefabcdefabcdefab in your message.)
  503 That model is currently overloaded with other requests. You can retry your request, or contact us through our help center at help.openai.com if the error persists. (Please include the request ID req_90807060504030201000a0b0c0d0e0f0 in your message.)
  # Azure OpenAI Chat Model | 400 | Azure: content filter
  400 The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry. {"code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"hate":{"filtered":false,"severity":"safe"},"jailbreak":{"filtered":true,"detected":true},"violence":{"filtered":false,"severity":"safe"}}}}
  400 The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry. {"code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"hate":{"filtered":false,"severity":"low"},"jailbreak":{"filtered":true,"detected":true},"violence":{"filtered":false,"severity":"safe"}}}}
  400 The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry. {"code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"hate":{"filtered":false,"severity":"safe"},"jailbreak":{"filtered":false,"detected":false},"violence":{"filtered":true,"severity":"medium"}}}}
  400 The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry. {"code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"hate":{"filtered":false,"severity":"safe"},"jailbreak":{"filtered":false,"detected":false},"violence":{"filtered":true,"severity":"high"}}}}
  400 The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry. {"code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"hate":{"filtered":false,"severity":"safe"},"jailbreak":{"filtered":true,"detected":true},"violence":{"filtered":false,"severity":"low"}}}}
  # Anthropic Chat Model | 529 | Anthropic: overloaded
  529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_011CQfakeAbCdEfGhIjKlMnO"}
  529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_011CSMfakeZ64Gz42SHKqX8mZ"}
  529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_011CVQe1fakeGNMJyE1ghG1a"}
  529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_vrtx_011CaBcDeFgHiJkLmNoPqR"}
  529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_011CQzZzZzZzZzZzZzZzZzZz"}
  # Anthropic Chat Model | 429 | Anthropic: input tokens per minute used up
  429 {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 30,000 input tokens per minute (org: 1f0e2d3c-4b5a-4697-8877-665544332211, model: claude-sonnet-4-20250514). For details, refer to: https://docs.claude.com/en/api/rate-limits."},"request_id":"req_011CQ1234567890fakeFake"}
  429 {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 1,000,000 input tokens per minute (org: 1f0e2d3c-4b5a-4697-8877-665544332211, model: claude-opus-4-1). For details, refer to: https://docs.claude.com/en/api/rate-limits."},"request_id":"req_011CQabcdefghijfakeFake"}
  429 {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 20,000 input tokens per minute (org: a1a2a3a4-b1b2-4c1c-8d1d-e1e2e3e4e5e6, model: claude-3-5-haiku-latest). For details, refer to: https://docs.claude.com/en/api/rate-limits."},"request_id":"req_011CRfakefakefakefakefak"}
  429 {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 50000 input tokens per minute (org: 00000000-0000-4000-8000-000000000001, model: claude-sonnet-4-5). For details, refer to: https://docs.claude.com/en/api/rate-limits."},"request_id":"req_011CSnopqrstuvwfakeFake"}
  429 {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 40,000 input tokens per minute (org: fefefefe-0101-4202-9303-040404040404, model: claude-3-7-sonnet-20250219). For details, refer to: https://docs.claude.com/en/api/rate-limits."},"request_id":"req_011CT000000000fakeFake"}
  # Anthropic Chat Model | 429 | Anthropic: output tokens per minute used up
  429 {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 8,000 output tokens per minute (org: 1f0e2d3c-4b5a-4697-8877-665544332211, model: claude-sonnet-4-20250514). For details, refer to: https://docs.claude.com/en/api/rate-limits."},"request_id":"req_011CQ9876543210fakeFake"}
  429 {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 16,000 output tokens per minute (org: a1a2a3a4-b1b2-4c1c-8d1d-e1e2e3e4e5e6, model: claude-opus-4-1-20250805). For details, refer to: https://docs.claude.com/en/api/rate-limits."},"request_id":"req_011CQzyxwvutsrqfakeFake"}
  429 {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 4000 output tokens per minute (org: 1f0e2d3c-4b5a-4697-8877-665544332211, model: claude-3-haiku-20240307). For details, refer to: https://docs.claude.com/en/api/rate-limits."},"request_id":"req_011CRfake0fake0fake0fak"}
  429 {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 80,000 output tokens per minute (org: 00000000-0000-4000-8000-000000000001, model: claude-sonnet-4-5). For details, refer to: https://docs.claude.com/en/api/rate-limits."},"request_id":"req_011CSponmlkjihgfakeFake"}
  429 {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 8,000 output tokens per minute (org: fefefefe-0101-4202-9303-040404040404, model: claude-3-5-sonnet-latest). For details, refer to: https://docs.claude.com/en/api/rate-limits."},"request_id":"req_011CT111111111fakeFake"}
  # Anthropic Chat Model | 400 | Anthropic: prompt too long
  400 {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"},"request_id":"req_011CVfakeFakeFakeFakeF1"}
  400 {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 207791 tokens > 200000 maximum"},"request_id":"req_011CVfakeFakeFakeFakeF2"}
  400 {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 1,000,412 tokens > 1,000,000 maximum"},"request_id":"req_011CWabcAbcAbcAbcAbcA3"}
  400 {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 200001 tokens > 199999 maximum"},"request_id":"req_011CXxyzXyzXyzXyzXyzX4"}
  400 {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 344120 tokens > 200000 maximum"}}
  # Anthropic Chat Model | 400 | Anthropic: max_tokens above the model
  400 {"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet-20241022"},"request_id":"req_011CVfakeFakeFakeFakeF5"}
  400 {"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for claude-3-haiku-20240307"},"request_id":"req_011CVfakeFakeFakeFakeF6"}
  400 {"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-20250514"},"request_id":"req_011CWabcAbcAbcAbcAbcA7"}
  400 {"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 65536 > 32000, which is the maximum allowed number of output tokens for claude-opus-4-1"},"request_id":"req_011CXxyzXyzXyzXyzXyzX8"}
  400 {"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-haiku-latest"},"request_id":"req_011CYqweQweQweQweQweQ9"}
  # Google Gemini Chat Model | 429 | Gemini: quota
  [GoogleGenerativeAI Error]: Error fetching from https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent: [429 Too Many Requests] You exceeded your current quota, please check your plan and billing details. ⏎* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 20, model: gemini-2.5-flash⏎Please retry in 58.821668433s.
  [GoogleGenerativeAI Error]: Error fetching from https://generativelanguage.googleapis.com/v1beta/models/gemini-2.0-flash-001:generateContent: [429 Too Many Requests] You exceeded your current quota, please check your plan and billing details. ⏎* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 15, model: gemini-2.0-flash⏎Please retry in 4.1s.
  [GoogleGenerativeAI Error]: Error fetching from https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse: [429 Too Many Requests] You exceeded your current quota, please check your plan and billing details. ⏎* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 0, model: gemini-2.5-pro⏎Please retry in 42.000119s.
  [GoogleGenerativeAI Error]: Error fetching from https://generativelanguage.googleapis.com/v1beta/models/gemini-flash-latest:generateContent: [429 Too Many Requests] You exceeded your current quota, please check your plan and billing details. ⏎* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 1,500, model: gemini-flash⏎Please retry in 812.5ms.
  [GoogleGenerativeAI Error]: Error fetching from https://generativelanguage.googleapis.com/v1beta/models/gemini-1.5-pro-002:generateContent: [429 Too Many Requests] You exceeded your current quota, please check your plan and billing details. ⏎* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 50, model: gemini-1.5-pro⏎Please retry in 1h2m3.4s.
  # Google Gemini Chat Model | 400 | Gemini: tool without parameters
  [GoogleGenerativeAI Error]: Error fetching from https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent: [400 Bad Request] * GenerateContentRequest.tools[0].function_declarations[3].parameters.properties: should be non-empty for OBJECT type
  [GoogleGenerativeAI Error]: Error fetching from https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:generateContent: [400 Bad Request] * GenerateContentRequest.tools[0].function_declarations[0].parameters.properties: should be non-empty for OBJECT type
  [GoogleGenerativeAI Error]: Error fetching from https://generativelanguage.googleapis.com/v1beta/models/gemini-2.0-flash-lite:streamGenerateContent?alt=sse: [400 Bad Request] * GenerateContentRequest.tools[2].function_declarations[11].parameters.properties: should be non-empty for OBJECT type
  [GoogleGenerativeAI Error]: Error fetching from https://generativelanguage.googleapis.com/v1beta/models/gemini-flash-latest:generateContent: [400 Bad Request] * GenerateContentRequest.tools[0].function_declarations[1].parameters.properties: should be non-empty for OBJECT type
  [GoogleGenerativeAI Error]: Error fetching from https://generativelanguage.googleapis.com/v1/models/gemini-1.5-flash-8b:generateContent: [400 Bad Request] * GenerateContentRequest.tools[1].function_declarations[0].parameters.properties: should be non-empty for OBJECT type
  # AI Agent | - | agent: too many iterations
  Max iterations (10) reached. The agent could not complete the task within the allowed number of iterations.
  Max iterations (3) reached. The agent could not complete the task within the allowed number of iterations.
  Max iterations (25) reached. The agent could not complete the task within the allowed number of iterations.
  Max iterations (100) reached. The agent could not complete the task within the allowed number of iterations.
  Max iterations (1,000) reached. The agent could not complete the task within the allowed number of iterations.
  # AI Agent | - | agent: tool input left out
  Received tool input did not match expected schema⏎✖ Required⏎  → at filters[0].value
  Received tool input did not match expected schema⏎✖ Required⏎  → at filters[2].value
  Received tool input did not match expected schema⏎✖ Required⏎  → at filters[11].value
  Received tool input did not match expected schema⏎✖ Required⏎  → at filters[1].value⏎✖ Required⏎  → at filters[3].value
  Received tool input did not match expected schema⏎✖ Required⏎  → at filters[7].value
  # AI Agent | - | agent: tool input of the wrong type
  Received tool input did not match expected schema⏎✖ Expected string, received number⏎  → at filters[0].value
  Received tool input did not match expected schema⏎✖ Expected string, received number⏎  → at filters[4].value
  Received tool input did not match expected schema⏎✖ Expected string, received number⏎  → at filters[10].value
  Received tool input did not match expected schema⏎✖ Expected string, received number⏎  → at filters[2].value
  Received tool input did not match expected schema⏎✖ Expected string, received number⏎  → at filters[1].value
  # Structured Output Parser | - | parser: prose instead of JSON
  Failed to parse. Text: "Sure! Here is the summary for "ACME Ltd": revenue grew by 12%.". Error: SyntaxError: Unexpected token 'S', "Sure! Here"... is not valid JSON
  Failed to parse. Text: "I'm sorry, but I can't find order 48213. Could you check the number?". Error: SyntaxError: Unexpected token 'I', "I'm sorry,"... is not valid JSON
  Failed to parse. Text: "Here's the JSON you asked for:⏎⏎{"total": 12.5, "items": [{"sku": "A-1", "qty": 2}]}⏎⏎Let me know if you need "anything" else!". Error: SyntaxError: Unexpected token 'H', "Here's the"... is not valid JSON
  Failed to parse. Text: "\`\`\`⏎name: 'Jane Doe'⏎mail: jane.doe@example.com⏎phone: +44 20 7946 0018⏎\`\`\`". Error: SyntaxError: Unexpected token '\`', "\`\`\`⏎name: "... is not valid JSON
  Failed to parse. Text: "**Invoice 2024-0091** was due on 1 May 2024 (€1.204,50). It is 17 days late, so a reminder was sent to billing@example.org on 2024-05-18 at 09:14. The customer answered: “we'll pay next week”. No further step is needed.". Error: SyntaxError: Unexpected token '*', "**Invoice "... is not valid JSON
  Failed to parse. Text: "No.". Error: SyntaxError: Unexpected token 'N', "No." is not valid JSON
`

const CODE_ERRORS = errorsIn`
  # Code | - | code: property of undefined
  TypeError: Cannot read properties of undefined (reading 'price') [line 3]
  TypeError: Cannot read properties of undefined (reading 'price') [line 4]
  TypeError: Cannot read properties of undefined (reading '0') [line 12]
  TypeError: Cannot read properties of undefined (reading 'billing_address') [line 118]
  TypeError: Cannot read properties of undefined (reading 'customer's note') [line 7]
  TypeError: Cannot read properties of undefined (reading 'toLowerCase') [line 3]
  # Code | - | code: property of null
  TypeError: Cannot read properties of null (reading 'price') [line 3]
  TypeError: Cannot read properties of null (reading 'price') [line 9]
  TypeError: Cannot read properties of null (reading 'length') [line 21]
  TypeError: Cannot read properties of null (reading '17') [line 2]
  TypeError: Cannot read properties of null (reading 'customer-name') [line 44]
  # Code | - | code: no JSON
  SyntaxError: Unexpected token '<', "<!DOCTYPE "... is not valid JSON [line 4]
  SyntaxError: Unexpected token 'I', "Internal S"... is not valid JSON [line 4]
  SyntaxError: Unexpected token '<', "<html><hea"... is not valid JSON [line 6]
  SyntaxError: Unexpected token 'u', "upstream c"... is not valid JSON [line 11]
  SyntaxError: Unexpected token 'o', "not ok" is not valid JSON [line 4]
  # Code | - | code: JSON with a missing comma
  SyntaxError: Expected ',' or '}' after property value in JSON at position 118 (line 5 column 3) [line 4]
  SyntaxError: Expected ',' or '}' after property value in JSON at position 20481 (line 1 column 20482) [line 4]
  SyntaxError: Expected ',' or '}' after property value in JSON at position 7 (line 2 column 1) [line 9]
  SyntaxError: Expected ',' or '}' after property value in JSON at position 1204 (line 88 column 12) [line 4]
  SyntaxError: Expected ',' or '}' after property value in JSON at position 64 [line 4]
  # Code | - | code: JSON cut off in a string
  SyntaxError: Unterminated string in JSON at position 4096 (line 1 column 4097) [line 4]
  SyntaxError: Unterminated string in JSON at position 65536 (line 1 column 65537) [line 4]
  SyntaxError: Unterminated string in JSON at position 212 (line 9 column 18) [line 7]
  SyntaxError: Unterminated string in JSON at position 16384 [line 4]
  SyntaxError: Unterminated string in JSON at position 33 (line 3 column 1) [line 12]
  # Code | - | code: ran too long
  Task execution timed out after 60 seconds
  Task execution timed out after 300 seconds
  Task execution timed out after 1 second
  Task execution timed out after 1,800 seconds
  Task execution timed out after 45 seconds
  # Code | - | code: no runner took it
  Task request timed out after 60 seconds
  Task request timed out after 20 seconds
  Task request timed out after 1 second
  Task request timed out after 1,200 seconds
  Task request timed out after 90 seconds
  # Code | - | code: order refused with 400
  Order 48213: Request failed with status code 400 [line 14]
  Order 48214: Request failed with status code 400 [line 14]
  Order 422: Request failed with status code 400 [line 15]
  Order 1,048,213: Request failed with status code 400 [line 14]
  Order 7: Request failed with status code 400 [line 22]
  # Code | - | code: order refused with 422
  Order 48215: Request failed with status code 422 [line 14]
  Order 400: Request failed with status code 422 [line 14]
  Order 51000: Request failed with status code 422 [line 16]
  Order 1,048,999: Request failed with status code 422 [line 14]
  Order 12: Request failed with status code 422 [line 30]
  # Edit Fields | - | expression: node not executed yet
  Node 'Lookup Customer' hasn't been executed
  Node 'Get "open" orders' hasn't been executed
  Node 'HTTP Request1' hasn't been executed
  Node 'Merge' hasn't been executed
  Node 'Jane's sheet (2024)' hasn't been executed
  # Edit Fields | - | expression: pairing lost
  Paired item data for item from node 'Lookup Customer' is unavailable. Ensure 'Lookup Customer' is providing the required output.
  Paired item data for item from node 'Code2' is unavailable. Ensure 'Code2' is providing the required output.
  Paired item data for item from node 'Get "open" orders' is unavailable. Ensure 'Get "open" orders' is providing the required output.
  Paired item data for item from node 'Jane's sheet' is unavailable. Ensure 'Jane's sheet' is providing the required output.
  Paired item data for item from node 'Aggregate' is unavailable. Ensure 'Aggregate' is providing the required output.
  # Edit Fields | - | expression: no number
  'amount' expects a number but we got 'abc'
  'amount' expects a number but we got '12,50 €'
  'unit price' expects a number but we got ''
  'qty' expects a number but we got 'a dozen, or "so"'
  'amount' expects a number but we got '2024-05-01T10:22:31.207Z'
  # Edit Fields | - | expression: no date
  'due' expects a dateTime but we got '31.02.2024'
  'due' expects a dateTime but we got 'tomorrow'
  'created_at' expects a dateTime but we got '2024-13-01T25:61:00Z'
  'due' expects a dateTime but we got ''
  'shipped on' expects a dateTime but we got '5/32/24'
  # If | - | condition: string where a number belongs
  Wrong type: '12a' is a string but was expecting a number [condition 0, item 3]
  Wrong type: 'n/a' is a string but was expecting a number [condition 0, item 0]
  Wrong type: '' is a string but was expecting a number [condition 0, item 118]
  Wrong type: 'it's 5' is a string but was expecting a number [condition 1, item 2]
  Wrong type: '1,204' is a string but was expecting a number [condition 0, item 41]
  # If | - | condition: number where a string belongs
  Wrong type: '12' is a number but was expecting a string [condition 2, item 3]
  Wrong type: '0' is a number but was expecting a string [condition 2, item 0]
  Wrong type: '48213' is a number but was expecting a string [condition 2, item 77]
  Wrong type: '-1.5' is a number but was expecting a string [condition 0, item 1]
  Wrong type: '1e21' is a number but was expecting a string [condition 2, item 12]
  # Stop and Error | - | own text: no price list
  No price list for customer “Alpine Sports” (C-10021, user anonymous, due 1 May 2024)
  No price list for customer “Müller & Söhne” (C-8, user jane_doe, due 14-Jun-2024)
  No price list for customer “"Quotes" Ltd” (C-20440, user admin, due 2024-07-31)
  No price list for customer “ACME” (C-10022, user sync, due 07/04/2024)
  No price list for customer “O'Brien 24/7” (C-99999, user system, due 3 Dec 2025)
  # Stop and Error | - | own text: no tax rate
  No tax rate for customer “Alpine Sports” (C-10021, user anonymous, due 1 May 2024)
  No tax rate for customer “Example GmbH” (C-31, user jane_doe, due 28-Feb-2025)
  No tax rate for customer “X” (C-20441, user admin, due 2024-08-30)
  No tax rate for customer “The "Old" Mill” (C-10400, user sync, due 12/31/2024)
  No tax rate for customer “Nº 5” (C-77777, user system, due 19 Jan 2026)
  # Read File | - | file missing
  ENOENT: no such file or directory, open '/data/in/report-2024-05-01.csv'
  ENOENT: no such file or directory, open 'C:\Users\n8n\Documents\in\report (3).xlsx'
  ENOENT: no such file or directory, open '/home/node/.n8n/binaryData/workflows/xYz/executions/48213/binary_data/0f8b2c1d'
  ENOENT: no such file or directory, open '\\fileserver\share$\orders\SO-2024-0091.pdf'
  ENOENT: no such file or directory, open 'customers.json'
  # Read File | - | file not allowed
  EACCES: permission denied, open '/data/in/report-2024-05-02.csv'
  EACCES: permission denied, open 'C:\ProgramData\n8n\key.txt'
  EACCES: permission denied, open '/root/.ssh/config'
  EACCES: permission denied, open '\\fileserver\share$\orders\SO-2024-0102.pdf'
  EACCES: permission denied, open './out/user/jane/list.json'
  # Convert to File | - | disk full
  ENOSPC: no space left on device, open '/tmp/n8n-8812.bin'
  ENOSPC: no space left on device, open '/home/node/.n8n/binaryData/workflows/aBc/executions/48213/binary_data/7c1e9a52'
  ENOSPC: no space left on device, open 'C:\Users\n8n\AppData\Local\Temp\out 4.zip'
  ENOSPC: no space left on device, open '/mnt/exports/2024/05/01/orders.parquet'
  ENOSPC: no space left on device, open '/data/x'
  # Convert to File | - | out of memory
  [28:0x7f8c3c0b1000]   48213 ms: Mark-Compact 2043.1 (2083.4) -> 2041.9 (2084.1) MB, 812.44 / 0.01 ms  (average mu = 0.141, current mu = 0.012) allocation failure⏎⏎FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory
  [1:0x55d0a1b2c3d0]  1204881 ms: Mark-Compact 4012.8 (4140.0) -> 4012.2 (4139.9) MB, 2204.1 / 0.00 ms  (average mu = 0.080, current mu = 0.000) allocation failure⏎⏎FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory
  [7:0x1400d8000]    9120 ms: Mark-Compact 509.7 (521.2) -> 509.1 (522.0) MB, 91.2 / 0.04 ms  (average mu = 0.302, current mu = 0.101) allocation failure⏎⏎FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory
  [30120:000001F2A3B4C5D0]  77102 ms: Mark-Compact 2045.0 (2085.1) -> 2044.9 (2085.0) MB, 990.0 / 0.02 ms  (average mu = 0.111, current mu = 0.004) allocation failure⏎⏎FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory
  [19:0x7fffdeadbeef]  300001 ms: Mark-Compact 1020.4 (1044.8) -> 1020.4 (1044.8) MB, 410.3 / 0.00 ms  (average mu = 0.205, current mu = 0.050) allocation failure⏎⏎FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory
  # Redis | - | Redis: replica is read only
  READONLY You can't write against a read only replica. script: 2fa1c0ffee0123456789abcdef0123456789abcd, on @user_script:12.
  READONLY You can't write against a read only replica. script: 00aa11bb22cc33dd44ee55ff66aa77bb88cc99dd, on @user_script:1.
  READONLY You can't write against a read only replica. script: ffffffffffffffffffffffffffffffffffffffff, on @user_script:140.
  READONLY You can't write against a read only replica. script: abcdefabcdefabcdefabcdefabcdefabcdefabcd, on @user_script:7.
  READONLY You can't write against a read only replica. script: 0123456789abcdef0123456789abcdef01234567, on @user_script:33.
  # Redis | - | Redis: slot moved
  MOVED 3999 127.0.0.1:6381
  MOVED 12182 10.0.7.15:6379
  MOVED 0 redis-cluster-2.redis.internal.example:6379
  MOVED 866 2001:db8::2:6379
  MOVED 16383 172.20.0.9:7002
  # Zapier | - | Zapier: app throttled
  Dev app App51025API (Mautic) throttled (100 script executions per 30 seconds), contact support.
  Dev app App88120CLIAPI@1.0.4 (Acme CRM) throttled (250 script executions per 1 minute), contact support.
  Dev app App7API (Orders) throttled (1,000 script executions per 60 seconds), contact support.
  Dev app App190044CLIAPI@2.13.0 (Example Shop 24) throttled (100 script executions per 30 seconds), contact support.
  Dev app App51025API (Mautic) throttled (300 script executions per 5 minutes), contact support.
  # Zapier | - | Zapier: throttled by the service
  {"message":"The server returned 429 (Too Many Requests)","delay":60}
  {"message":"The server returned 429 (Too Many Requests)","delay":1}
  {"message":"The server returned 429 (Too Many Requests)","delay":3600}
  {"message":"The server returned 429 (Too Many Requests)","delay":12.5}
  {"message":"The server returned 429 (Too Many Requests)","delay":900}
  # Postgres | - | Postgres: too many connections
  too many connections for role "n8n_app"
  too many connections for role "report-reader"
  too many connections for role "svc_8812"
  too many connections for role "Jane Doe"
  too many connections for role "postgres.fakeFakeFakeFake"
`

export const ERRORS: CorpusError[] = [...MODEL_ERRORS, ...CODE_ERRORS, ...SERVICE_ERRORS]
