/**
 * The protobuf shape of an OpenAPI 2.0 document, as far as ours have those parts.
 *
 * Condensed from openapiv2/OpenAPIv2.proto of github.com/google/gnostic-models (Apache-2.0). One entry per message:
 * `name=number:type`, no type = string, `[]` = repeated. `_ref` and snake case are the .proto's.
 */
export const gnosticMessages: Readonly<Record<string, string>> = {
  AdditionalPropertiesItem: 'schema=1:Schema boolean=2:bool',
  Any: 'yaml=2',
  ApiKeySecurity: 'type=1 name=2 in=3 description=4 vendor_extension=5:[]NamedAny',
  BodyParameter: 'description=1 name=2 in=3 required=4:bool schema=5:Schema vendor_extension=6:[]NamedAny',
  Definitions: 'additional_properties=1:[]NamedSchema',
  Document:
    'swagger=1 info=2:Info host=3 base_path=4 schemes=5:[]string consumes=6:[]string produces=7:[]string ' +
    'paths=8:Paths definitions=9:Definitions security=12:[]SecurityRequirement ' +
    'security_definitions=13:SecurityDefinitions vendor_extension=16:[]NamedAny',
  Info: 'title=1 version=2 description=3 vendor_extension=7:[]NamedAny',
  ItemsItem: 'schema=1:[]Schema',
  NamedAny: 'name=1 value=2:Any',
  NamedPathItem: 'name=1 value=2:PathItem',
  NamedResponseValue: 'name=1 value=2:ResponseValue',
  NamedSchema: 'name=1 value=2:Schema',
  NamedSecurityDefinitionsItem: 'name=1 value=2:SecurityDefinitionsItem',
  NamedStringArray: 'name=1 value=2:StringArray',
  NonBodyParameter:
    'query_parameter_sub_schema=3:QueryParameterSubSchema path_parameter_sub_schema=4:PathParameterSubSchema',
  Operation:
    'tags=1:[]string summary=2 description=3 operation_id=5 produces=6:[]string consumes=7:[]string ' +
    'parameters=8:[]ParametersItem responses=9:Responses schemes=10:[]string deprecated=11:bool ' +
    'security=12:[]SecurityRequirement vendor_extension=13:[]NamedAny',
  Parameter: 'body_parameter=1:BodyParameter non_body_parameter=2:NonBodyParameter',
  ParametersItem: 'parameter=1:Parameter',
  PathItem:
    'get=2:Operation put=3:Operation post=4:Operation delete=5:Operation patch=8:Operation ' +
    'parameters=9:[]ParametersItem vendor_extension=10:[]NamedAny',
  PathParameterSubSchema:
    'required=1:bool in=2 description=3 name=4 type=5 format=6 unique_items=18:bool vendor_extension=22:[]NamedAny',
  Paths: 'vendor_extension=1:[]NamedAny path=2:[]NamedPathItem',
  Properties: 'additional_properties=1:[]NamedSchema',
  QueryParameterSubSchema:
    'required=1:bool in=2 description=3 name=4 type=6 format=7 unique_items=19:bool vendor_extension=23:[]NamedAny',
  Response: 'description=1 schema=2:SchemaItem vendor_extension=5:[]NamedAny',
  ResponseValue: 'response=1:Response',
  Responses: 'response_code=1:[]NamedResponseValue vendor_extension=2:[]NamedAny',
  Schema:
    '_ref=1 format=2 title=3 description=4 default=5:Any multiple_of=6:double maximum=7:double ' +
    'exclusive_maximum=8:bool minimum=9:double exclusive_minimum=10:bool max_length=11:int64 ' +
    'min_length=12:int64 pattern=13 max_items=14:int64 min_items=15:int64 unique_items=16:bool ' +
    'max_properties=17:int64 min_properties=18:int64 required=19:[]string enum=20:[]Any ' +
    'additional_properties=21:AdditionalPropertiesItem type=22:TypeItem items=23:ItemsItem ' +
    'all_of=24:[]Schema properties=25:Properties vendor_extension=31:[]NamedAny',
  SchemaItem: 'schema=1:Schema',
  SecurityDefinitions: 'additional_properties=1:[]NamedSecurityDefinitionsItem',
  SecurityDefinitionsItem: 'api_key_security=2:ApiKeySecurity',
  SecurityRequirement: 'additional_properties=1:[]NamedStringArray',
  StringArray: 'value=1:[]string',
  TypeItem: 'value=1:[]string',
}
